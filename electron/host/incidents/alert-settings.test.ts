import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_ALERT_RULES } from '#core/alerts/rules.ts'
import { alertRuleView } from '#core/api/incidents.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { AlertSettings } from './alert-settings.ts'

const queue = { kind: 'queue', on: true, threshold: 6, forS: 45, opens: false } as const

describe('settings of alerts', () => {
  it('are those as shipped, within their bounds and in words', () => {
    const { faces, notice } = new AlertSettings(undefined)
    expect(notice).toBeUndefined()
    expect(faces.map(({ usual }) => usual)).toEqual(DEFAULT_ALERT_RULES)
    for (const f of faces) {
      expect(alertRuleView.parse(f)).toEqual(f)
      expect(f.threshold).toBeGreaterThanOrEqual(f.least)
      expect(f.threshold).toBeLessThanOrEqual(f.most)
    }
  })

  it('are kept whole, in one file', () => {
    const folder = tempFolder()
    expect(new AlertSettings(folder).set(queue).ok).toBe(true)
    const again = new AlertSettings(folder)
    expect(again.rules.find((r) => r.kind === 'queue')).toEqual(queue)
    expect(again.rules.filter((r) => r.kind !== 'queue')).toEqual(DEFAULT_ALERT_RULES.filter((r) => r.kind !== 'queue'))
    expect(readdirSync(folder)).toEqual(['alerts.json'])
  })

  it('are refused beyond the bounds of their kind, and stay', () => {
    const settings = new AlertSettings(undefined)
    const refused = settings.set({ ...queue, threshold: 1 })
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'ALERT_BOUNDS', why: 'its threshold must be from 1.5 to 1000 × usual' },
    })
    expect(settings.rules).toEqual(DEFAULT_ALERT_RULES)
  })

  it.each([
    ['damaged', '{"format":1,"rules":[{"kind":"queue"', 'it is not JSON'],
    [
      'of another shape',
      '{"format":1,"rules":[{"kind":"queue","on":"yes"}]}',
      'its content is not valid in this version',
    ],
    [
      'with an endless threshold',
      '{"format":1,"rules":[{"kind":"queue","on":true,"threshold":1e999,"forS":1,"opens":true}]}',
      'its content is not valid in this version',
    ],
    [
      'out of bounds',
      JSON.stringify({ format: 1, rules: [{ ...queue, threshold: 1e6 }] }),
      'a threshold is out of bounds',
    ],
    ['newer', '{"format":2,"rules":{}}', 'a newer version wrote it'],
    ['huge', `{"format":1,"rules":[]}${' '.repeat(100_000)}`, 'the file is too long'],
  ])('that are %s are set aside, and said so', (_, text, why) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'alerts.json'), text)
    const settings = new AlertSettings(folder)
    expect(settings.rules).toEqual(DEFAULT_ALERT_RULES)
    expect(settings.notice).toMatchObject({ code: 'ALERTS_UNREAD' })
    expect(settings.notice?.why).toContain(why)
    expect(readFileSync(join(folder, 'alerts.json.aside'), 'utf8')).toBe(text)
    expect(settings.set(queue).ok).toBe(true)
    expect(settings.notice).toBeUndefined()
    expect(new AlertSettings(folder).rules).toContainEqual(queue)
  })

  it('that cannot be written are not in force', () => {
    const settings = new AlertSettings('/dev/null/no-folder')
    expect(settings.set(queue)).toMatchObject({ ok: false, error: { code: 'ALERTS_NOT_WRITTEN' } })
    expect(settings.rules).toEqual(DEFAULT_ALERT_RULES)
  })
})
