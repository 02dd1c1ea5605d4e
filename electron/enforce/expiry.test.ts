import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import type { NodeConnection, TimerKind } from '../base/connection.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import {
  covers,
  endTimerCommand,
  listTimersCommand,
  makeTimerCommand,
  parseTimers,
  readTimers,
  verifyTimer,
} from './expiry.ts'
import { readTimerCommand, timerCommandText, type TimerCommand } from './expiry-match.ts'
import { PARAMETERS, stopOf, stopValue, type TimerSpec } from './expiry-spec.ts'
import { spanSeconds } from './expiry-systemd.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const MDT = 'mds.MDS.mdt.nrs_tbf_rule'
const spec = (more: Partial<TimerSpec> = {}): TimerSpec => ({
  unit: 'sluice-t1',
  seconds: 90,
  stops: [{ parameter: OST, queue: 'reg', name: 'hog' }],
  ...more,
})
const kinds = ['systemd', 'shell', 'helper'] as const
const text = (kind: TimerKind, t = spec()): string => {
  const made = makeTimerCommand(kind, t)
  if (!made.ok) throw new Error(made.error.why)
  return made.value
}

describe('a timer command', () => {
  it('of systemd asks for seconds, since without it a timer may be a minute late', () => {
    expect(text('systemd')).toBe(
      `systemd-run --on-active=90s --timer-property=AccuracySec=1s --unit=sluice-t1 --collect lctl set_param ${OST}='reg stop hog'`,
    )
  })

  it('of the helper is plain words', () => {
    expect(text('helper')).toBe(`sluice-rule expire 90 sluice-t1 ${OST} reg hog`)
  })

  it('is refused on a server that keeps none', () => {
    expect(makeTimerCommand('none', spec())).toMatchObject({ ok: false, error: { code: 'NO_TIMERS' } })
    expect(listTimersCommand('none')).toMatchObject({ ok: false })
  })

  it.each([
    ['a rule that ends the word', spec({ stops: [{ parameter: OST, queue: 'reg', name: "x'; reboot; '" }] })],
    ['a rule that is an option', spec({ stops: [{ parameter: OST, queue: 'reg', name: '--help' }] })],
    ['a rule with a newline', spec({ stops: [{ parameter: OST, queue: 'reg', name: 'x\ny' }] })],
    ['a rule that systemd would expand', spec({ stops: [{ parameter: OST, queue: 'reg', name: '%n$x' }] })],
    ['the built-in rule', spec({ stops: [{ parameter: OST, queue: 'reg', name: 'default' }] })],
    ['another parameter', spec({ stops: [{ parameter: 'version', queue: 'reg', name: 'x' }] })],
    ['a parameter of many', spec({ stops: [{ parameter: 'ost.*.*.nrs_tbf_rule', queue: 'reg', name: 'x' }] })],
    ['nothing', spec({ stops: [] })],
    ['a unit of others', spec({ unit: 'sshd' })],
    ['a unit with a path', spec({ unit: 'sluice-../../x' })],
    ['a unit with a command', spec({ unit: 'sluice-$(id)' })],
    ['a unit that is an option', spec({ unit: '--user' })],
    ['no time', spec({ seconds: 0 })],
    ['a fraction of time', spec({ seconds: 1.5 })],
    ['time without end', spec({ seconds: Number.MAX_SAFE_INTEGER })],
  ])('is not made for %s', (_what, t) => {
    for (const kind of kinds)
      expect(makeTimerCommand(kind, t)).toMatchObject({ ok: false, error: { code: 'TIMER_REFUSED' } })
    for (const kind of kinds) {
      if (t.unit !== 'sluice-t1') expect(endTimerCommand(kind, t.unit)).toMatchObject({ ok: false })
    }
  })

  it('does not accept a program other than lctl', () => {
    for (const lctl of ['/bin/sh', 'lctl;id', '/x y/lctl', '../lctl', '$(id)/lctl']) {
      expect(makeTimerCommand('shell', spec(), { lctl, sudo: false }), lctl).toMatchObject({ ok: false })
    }
    expect(makeTimerCommand('shell', spec(), { lctl: '/opt/lustre-2.15/sbin/lctl', sudo: true })).toMatchObject({
      value: expect.stringContaining('until sudo -n /opt/lustre-2.15/sbin/lctl set_param') as string,
    })
  })

  it('with a thousand rules still fits into a command line', () => {
    const stops = Array.from({ length: 1000 }, (_, i) => ({
      parameter: 'mds.MDS.mdt_readpage.nrs_tbf_rule',
      queue: 'both' as const,
      name: `ab_${String(i).padStart(10, '0')}`,
    }))
    for (const kind of kinds) expect(text(kind, spec({ stops })).length).toBeLessThan(120 << 10)
  })
})

const stops = fc.array(
  fc.record({
    parameter: fc.constantFrom(...PARAMETERS),
    queue: fc.constantFrom('reg' as const, 'hp' as const, 'both' as const),
    name: fc.stringMatching(/^[A-Za-z0-9_]{1,15}$/).filter((n) => n !== 'default'),
  }),
  { minLength: 1, maxLength: 12 },
)
const timer = fc.record({
  unit: fc.stringMatching(/^sluice-[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/),
  seconds: fc.integer({ min: 1, max: 604_800 }),
  stops,
})
const command = fc.oneof(
  fc.record({ verb: fc.constant('make' as const), kind: fc.constantFrom(...kinds), timer }),
  fc.record({ verb: fc.constant('end' as const), kind: fc.constantFrom(...kinds), unit: timer.map((t) => t.unit) }),
  fc.record({ verb: fc.constant('list' as const), kind: fc.constantFrom(...kinds) }),
)

describe('the closed list', () => {
  it('reads back every timer command, and none that differs in a byte', () => {
    fc.assert(
      fc.property(
        command,
        fc.nat(),
        fc.constantFrom(' ', ';', "'", '\n', '$', 'x', '0', '-'),
        (c: TimerCommand, at, extra) => {
          const rendered = timerCommandText(c) ?? ''
          expect(readTimerCommand(rendered)).toEqual(c)
          const i = at % (rendered.length + 1)
          const altered = rendered.slice(0, i) + extra + rendered.slice(i)
          const read = readTimerCommand(altered)
          // A longer number or name is another valid command; in any case it renders to that very text.
          if (read) expect(timerCommandText(read)).toBe(altered)
        },
      ),
    )
  })

  it.each([
    `systemd-run --on-active=9s --timer-property=AccuracySec=1s --unit=sluice-a --collect sh -c 'lctl set_param ${OST}='\\''reg stop a'\\''; reboot'`,
    `systemd-run --on-active=9s --timer-property=AccuracySec=1s --unit=sluice-a --collect lctl set_param ${OST}='reg start a jobid={x} rate=1'`,
    `systemd-run --on-active=9s --timer-property=ExecStart=x --unit=sluice-a --collect lctl set_param ${OST}='reg stop a'`,
    'systemctl stop sluice-a.timer; reboot',
    'systemctl stop sshd.timer',
    "sh -c 'reboot' sluice-list",
    "sh -c 'x' sluice-make 'y' sluice-a 9 ost.OSS.ost_io.nrs_tbf_rule reg a",
    'sluice-rule end sluice-a sluice-b',
    'sluice-rule start ost.OSS.ost_io.nrs_tbf_rule reg a jobid={x} 5',
  ])('does not take %s', (line) => {
    expect(readTimerCommand(line)).toBeUndefined()
  })
})

describe("systemd's list of timers", () => {
  const shown = `Id=sluice-a.timer
ActiveState=active
SubState=waiting
NextElapseUSecMonotonic=1d 2h 3min 4.500000s

ActiveState=active
Id=sluice-gone.timer
SubState=elapsed
NextElapseUSecMonotonic=1s

ExecStart={ path=/usr/sbin/lctl ; argv[]=/usr/sbin/lctl set_param ${OST}=reg stop hog ; ignore_errors=no ; start_time=[n/a] ; pid=0 }
Id=sluice-a.service
ActiveState=inactive
SubState=dead

Id=sluice-b.timer
NextElapseUSecMonotonic=infinity
ActiveState=active
SubState=waiting

Id=sluice-b.service
ExecStart={ path=/usr/bin/sh ; argv[]=/usr/bin/sh -c lctl set_param ${OST}='reg stop ab_1'; lctl set_param ${MDT}='stop ab_2' ; ignore_errors=no }
93700.25 180000.10
`
  it('is read in whatever order its properties are, as released since 2014', () => {
    expect(parseTimers('systemd', shown)).toEqual([
      {
        unit: 'sluice-a',
        stops: [{ parameter: OST, queue: 'reg', name: 'hog' }],
        leftS: expect.closeTo(84.25, 5) as number,
        isOwn: true,
        file: '/run/systemd/transient/sluice-a.timer',
      },
      {
        unit: 'sluice-b',
        stops: [
          { parameter: OST, queue: 'reg', name: 'ab_1' },
          { parameter: MDT, queue: 'both', name: 'ab_2' },
        ],
        leftS: undefined,
        isOwn: true,
        file: '/run/systemd/transient/sluice-b.timer',
      },
    ])
  })

  it('is parsed whatever it contains', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.string({ unit: anyCharacter, maxLength: 400 }), (kind, junk) => {
        expect(Array.isArray(parseTimers(kind, junk))).toBe(true)
        expect(parseTimers(kind, `${junk.replaceAll('sluice', '')}\n1.0 1.0\n`)).toEqual([])
      }),
    )
  })

  it.each([
    ['1min 30s', 90],
    ['2h', 7200],
    ['1w 1d', 691_200],
    ['500ms', 0.5],
    ['0', 0],
    ['infinity', undefined],
    ['', undefined],
    ['5 parsecs', undefined],
  ])('has spans such as "%s"', (span, seconds) => {
    expect(spanSeconds(span)).toBe(seconds)
  })
})

describe('timers on an emulated server', () => {
  const world = (): { source: EmulatedSource; node: NodeConnection; oss: EmulatedNode } => {
    const source = new EmulatedSource(twoJobs())
    return { source, node: source.nodes[0] as NodeConnection, oss: source.emulator.node('oss01') as EmulatedNode }
  }

  it('are made, seen and ended', async () => {
    const { source, node, oss } = world()
    const both = [
      { parameter: OST, queue: 'reg' as const, name: 'ab_1' },
      { parameter: OST, queue: 'both' as const, name: 'ab_2' },
    ]
    await node.exec(text('systemd', spec({ stops: both })))
    source.emulator.sim.runUntil(30.5 * NS_PER_S)
    expect(await verifyTimer(node, spec({ stops: both }))).toMatchObject({
      ok: true,
      value: { leftS: 59.5, stops: both },
    })
    expect(await readTimers(node)).toMatchObject({ ok: true, value: [{ unit: 'sluice-t1' }] })
    const end = endTimerCommand('systemd', 'sluice-t1')
    expect(end.ok && oss.exec(end.value).code).toBe(0)
    expect(await readTimers(node)).toEqual({ ok: true, value: [] })
    expect(await verifyTimer(node, spec())).toMatchObject({ ok: false, error: { code: 'TIMER_MISSING' } })
  })

  it('that stop less, or later, than was asked for are not taken for it', async () => {
    const { node } = world()
    await node.exec(text('systemd'))
    const more = [...spec().stops, { parameter: OST, queue: 'reg' as const, name: 'other' }]
    expect(await verifyTimer(node, spec({ stops: more }))).toMatchObject({
      error: { why: expect.stringContaining('every rule') as string },
    })
    expect(await verifyTimer(node, spec({ seconds: 20 }))).toMatchObject({
      error: { why: expect.stringContaining('too late') as string },
    })
  })

  it('are not believed to be none when the answer was cut short', async () => {
    const { node } = world()
    const cut = { ...node, exec: async () => printed('', 'Failed to connect to bus') }
    expect(await readTimers(cut)).toMatchObject({ ok: false, error: { code: 'TIMERS_UNREADABLE' } })
  })
})

it('a stop of both queues covers either, and one queue does not cover both', () => {
  const reg = { parameter: OST, queue: 'reg' as const, name: 'a' }
  const both = { parameter: OST, queue: 'both' as const, name: 'a' }
  expect(covers({ stops: [both] }, [reg])).toBe(true)
  expect(covers({ stops: [reg] }, [both])).toBe(false)
  expect(stopOf(OST, stopValue(reg))).toEqual(reg)
  expect(stopOf(OST, 'change a rate=5')).toBeUndefined()
})
