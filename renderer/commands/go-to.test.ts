import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchedThing, completeGoTo, readGoTo } from './go-to.ts'

const settings = new Map([
  ['theme', ['dark', 'light', 'system']],
  ['textSize', ['90', '100', '110']],
])
const to = (text: string) => {
  const read = readGoTo(text, settings)
  return read.ok ? read.to : `${read.column}: ${read.why}`
}

describe('a go-to line', () => {
  it('opens a view, with a filter if it has one', () => {
    expect(to('jobs user=ana rpc>5k -rule=*')).toEqual({
      kind: 'view',
      view: 'jobs',
      filter: 'user:ana rpc>5k -rule:*',
    })
    expect(to('RULES')).toEqual({ kind: 'view', view: 'rules', filter: '' })
    expect(to('conn')).toEqual({ kind: 'view', view: 'connections', filter: '' })
    expect(to('rules owner=operator hog')).toEqual({ kind: 'view', view: 'rules', filter: 'owner:operator hog' })
    expect(to('locks  a b ')).toEqual({ kind: 'view', view: 'locks', filter: 'a b' })
  })

  it('opens a thing by name', () => {
    expect(to('job 4690.python')).toEqual({ kind: 'thing', thing: 'job', id: '4690.python' })
    expect(to('ost OST0003')).toEqual({ kind: 'thing', thing: 'target', id: 'OST0003' })
    expect([to('incident 12'), to('incident inc-0007')]).toEqual([
      { kind: 'thing', thing: 'incident', id: 'INC-0012' },
      { kind: 'thing', thing: 'incident', id: 'INC-0007' },
    ])
    expect(to('help sudoers')).toEqual({ kind: 'help', page: 'sudoers' })
  })

  it('sets a setting to a valid value', () => {
    expect(to('set theme li')).toEqual({ kind: 'set', name: 'theme', value: 'light' })
    expect(to('set TEXTSIZE 110')).toEqual({ kind: 'set', name: 'textSize', value: '110' })
  })

  it('reports errors with their column', () => {
    expect(to('nowhere')).toBe('1: unknown destination nowhere')
    expect(to('history x')).toBe('9: unexpected text after history')
    expect(to('set colour blue')).toBe('5: unknown setting colour')
    expect(to('set theme pink')).toBe('11: theme is one of dark, light, system')
    expect(to('set theme dark now')).toBe('16: unexpected text after the value')
    expect(to('s')).toContain('ambiguous: sandbox, settings')
    expect(readGoTo('job ', settings)).toMatchObject({
      ok: false,
      column: 5,
      why: 'enter the name of the job',
      isUnfinished: true,
    })
    expect(readGoTo('history x', settings)).toMatchObject({ isUnfinished: false })
    expect(to('constructor')).toBe('1: unknown destination constructor')
  })

  it('is completed word by word', () => {
    expect(completeGoTo('jo', settings)).toEqual(['jobs', 'job'])
    expect(completeGoTo('set ', settings)).toEqual(['set theme', 'set textSize'])
    expect(completeGoTo('set theme ', settings)).toEqual(['set theme dark', 'set theme light', 'set theme system'])
    expect(completeGoTo('set theme l', settings)).toEqual(['set theme light'])
    expect(completeGoTo('jobs user=', settings)).toEqual([])
    expect([searchedThing('ost 3'), searchedThing('jobs x'), searchedThing('job')]).toEqual([
      { thing: 'target', name: '3' },
      null,
      null,
    ])
  })

  it('accepts any text, and every completion is valid or can be continued', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('s', 'set t', 'set theme ', 'j', '')), (text) => {
        const read = readGoTo(text, settings)
        if (!read.ok) expect(read.column).toBeLessThanOrEqual(text.length + 1)
        for (const completed of completeGoTo(text, settings)) {
          const next = readGoTo(completed, settings)
          expect(next.ok || next.isUnfinished).toBe(true)
        }
      }),
    )
  })
})
