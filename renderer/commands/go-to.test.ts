import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { askedThing, completeGoTo, readGoTo } from './go-to.ts'

const settings = new Map([
  ['theme', ['dark', 'light', 'system']],
  ['textSize', ['90', '100', '110']],
])
const to = (text: string) => {
  const read = readGoTo(text, settings)
  return read.ok ? read.to : `${read.column}: ${read.why}`
}

describe('a line that goes somewhere', () => {
  it('is a view, with a filter where it has one', () => {
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

  it('is a thing by its name', () => {
    expect(to('job 4690.python')).toEqual({ kind: 'thing', thing: 'job', id: '4690.python' })
    expect(to('ost OST0003')).toEqual({ kind: 'thing', thing: 'target', id: 'OST0003' })
    expect([to('incident 12'), to('incident inc-0007')]).toEqual([
      { kind: 'thing', thing: 'incident', id: 'INC-0012' },
      { kind: 'thing', thing: 'incident', id: 'INC-0007' },
    ])
    expect(to('help sudoers')).toEqual({ kind: 'help', page: 'sudoers' })
  })

  it('sets what can be set, to what it can be', () => {
    expect(to('set theme li')).toEqual({ kind: 'set', name: 'theme', value: 'light' })
    expect(to('set TEXTSIZE 110')).toEqual({ kind: 'set', name: 'textSize', value: '110' })
  })

  it('says what is wrong, and where', () => {
    expect(to('nowhere')).toBe('1: there is no nowhere to go to')
    expect(to('history x')).toBe('9: nothing comes behind history')
    expect(to('set colour blue')).toBe('5: there is no setting colour')
    expect(to('set theme pink')).toBe('11: theme is one of dark, light, system')
    expect(to('set theme dark now')).toBe('16: nothing comes behind the value')
    expect(to('s')).toContain('it could be sandbox, settings')
    expect(readGoTo('job ', settings)).toMatchObject({ ok: false, column: 5, why: 'which job', isUnfinished: true })
    expect(readGoTo('history x', settings)).toMatchObject({ isUnfinished: false })
    expect(to('constructor')).toBe('1: there is no constructor to go to')
  })

  it('is completed word by word', () => {
    expect(completeGoTo('jo', settings)).toEqual(['jobs', 'job'])
    expect(completeGoTo('set ', settings)).toEqual(['set theme', 'set textSize'])
    expect(completeGoTo('set theme ', settings)).toEqual(['set theme dark', 'set theme light', 'set theme system'])
    expect(completeGoTo('set theme l', settings)).toEqual(['set theme light'])
    expect(completeGoTo('jobs user=', settings)).toEqual([])
    expect([askedThing('ost 3'), askedThing('jobs x'), askedThing('job')]).toEqual([
      ...[{ thing: 'target', name: '3' }, null, null],
    ])
  })

  it('takes any text, and every completion can be read or goes on', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('s', 'set t', 'set theme ', 'j', '')), (text) => {
        const read = readGoTo(text, settings)
        if (!read.ok) expect(read.column).toBeLessThanOrEqual(text.length + 1)
        for (const whole of completeGoTo(text, settings)) {
          const next = readGoTo(whole, settings)
          expect(next.ok || next.isUnfinished).toBe(true)
        }
      }),
    )
  })
})
