import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { consoleName, consoleTag, consoleUnit, isOfSession, newSession } from './console-name.ts'
import { isUnit } from './expiry-spec.ts'

describe('the name of a unit', () => {
  it('carries the console, for any user, within the grammar of units', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.constantFrom('lease', 'stop', 'take'),
        fc.boolean(),
        (user, host, purpose, isMd) => {
          const session = newSession(`${user}@${host}`)
          const unit = `sluice-${purpose}-${session}${isMd ? '-md' : ''}-1234567`
          expect(isUnit(unit), unit).toBe(true)
          expect(consoleUnit(unit)?.purpose).toBe(purpose)
          expect(consoleUnit(unit)?.console).toMatch(/^\w[\w-]*@\w[\w-]*$/)
          expect(isOfSession(unit, session)).toBe(true)
          expect(isOfSession(unit, newSession(`${user}@${host}`))).toBe(false)
        },
      ),
    )
  })

  it.each([
    ['ada@login03.site.example', 'ada@login03'],
    ['svc-sluice-long@a-very-long-host-name', 'svc-sluice@a-very-long-host'],
    ['1000@x', '1000@x'],
    ['a--b@c--d', 'a-b@c-d'],
  ])('of %s says %s', (user, output) => {
    expect(consoleName(`sluice-lease-${consoleTag(user)}-0000a1-7`)).toBe(output)
  })

  it('of an older release, or of the timer of a rule, has no console', () => {
    expect(consoleName('sluice-lease-3fa2b1-4')).toBe('another console')
    expect(consoleUnit('sluice-lease-3fa2b1-md-4')).toMatchObject({ console: '', session: '3fa2b1' })
    expect(consoleUnit('sluice-3fa2b1-2')).toBeUndefined()
  })
})
