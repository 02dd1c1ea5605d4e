import { describe, expect, it } from 'vitest'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedNode } from './node.ts'
import { span } from './systemctl.ts'

const ops = { name: 'ops', uid: 1000 }

/** 2026-01-01 00:00:00 UTC was a Thursday. */
function node(): { sim: Simulation; node: EmulatedNode; out: (line: string) => string } {
  const sim = new Simulation()
  const n = new EmulatedNode(sim, { name: 'oss01', roles: ['oss'], epochSeconds: 1_767_225_600 })
  return { sim, node: n, out: (line) => n.exec(line).stdout }
}

const START =
  'systemd-run --on-active=1800s --timer-property=AccuracySec=1s --unit=sluice-a --collect sh -c "true; false"'

describe('systemctl', () => {
  it('lists the pending timers, the next one first', () => {
    const { sim, node: n, out } = node()
    expect(out('systemctl list-timers')).toBe('0 timers listed.\n')
    expect(out("systemctl list-timers 'sluice-*' --no-legend")).toBe('')
    expect(n.exec(START).stderr).toBe(
      'Running timer as unit: sluice-a.timer\nWill run service as unit: sluice-a.service\n',
    )
    n.exec('systemd-run -q --unit=other --on-active=90 --description="a b" true')
    sim.runUntil(1e9)
    expect(out('systemctl list-timers --all')).toBe(
      [
        'NEXT                        LEFT          LAST PASSED UNIT           ACTIVATES',
        'Thu 2026-01-01 00:01:30 UTC 1min 29s left -    -      other.timer    other.service',
        'Thu 2026-01-01 00:30:00 UTC 29min left    -    -      sluice-a.timer sluice-a.service',
        '',
        '2 timers listed.',
        '',
      ].join('\n'),
    )
    expect(JSON.parse(out("systemctl list-timers 'sluice-*' --output=json"))).toEqual([
      {
        next: 1_767_227_400_000_000,
        left: 1_800_000_000,
        last: 0,
        passed: 0,
        unit: 'sluice-a.timer',
        activates: 'sluice-a.service',
      },
    ])
    expect(out("systemctl list-units '*.timer' --all --no-legend --plain")).toBe(
      'other.timer    loaded active waiting a b\n' +
        'sluice-a.timer loaded active waiting /usr/bin/sh -c true; false\n',
    )
    expect(out("systemctl list-units 'sluice-*' --type=service --no-legend")).toBe('')
    expect(out("systemctl list-units 'sluice-*' --all --type=service --no-legend")).toBe(
      'sluice-a.service loaded inactive dead /usr/bin/sh -c true; false\n',
    )
  })

  it('shows a timer and the service that it will start, by their properties', () => {
    const { sim, node: n, out } = node()
    n.exec(START)
    sim.runUntil(2.5e9)
    const option = '--property=Id,ActiveState,SubState,NextElapseUSecMonotonic,ExecStart'
    const timer = 'NextElapseUSecMonotonic=30min\nId=sluice-a.timer\nActiveState=active\nSubState=waiting\n'
    // The waiting service is inactive: a pattern alone does not match it.
    expect(out(`systemctl show ${option} 'sluice-*.timer' 'sluice-*.service'`)).toBe(timer)
    expect(out(`systemctl show --all ${option} 'sluice-*.timer' 'sluice-*.service'`)).toBe(
      'NextElapseUSecMonotonic=30min\nId=sluice-a.timer\nActiveState=active\nSubState=waiting\n\n' +
        'ExecStart={ path=/usr/bin/sh ; argv[]=/usr/bin/sh -c true; false ; ignore_errors=no ; start_time=[n/a] ; ' +
        'stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\nId=sluice-a.service\nActiveState=inactive\nSubState=dead\n',
    )
    expect(out('systemctl show nosuch --property=LoadState --value')).toBe('not-found\n')
    expect(out("systemctl show 'nosuch-*'")).toBe('')
    expect(out('cat /proc/uptime')).toBe('2.50 20.00\n')
  })

  it('stops what a name or a pattern says, for root alone', () => {
    const { node: n } = node()
    n.exec(START)
    expect(n.exec('systemctl is-active sluice-a.timer')).toMatchObject({ stdout: 'active\n', code: 0 })
    expect(n.exec('systemctl stop sluice-a.timer', ops)).toEqual({
      stdout: '',
      stderr:
        "Failed to stop sluice-a.timer: Access denied\nSee system logs and 'systemctl status sluice-a.timer' for details.\n",
      code: 4,
    })
    expect(n.exec(START, ops)).toMatchObject({ code: 1, stderr: expect.stringContaining('Access denied') as string })
    expect(n.exec("systemctl stop 'sluice-*.timer' 'nosuch-*'").code).toBe(0)
    expect([...n.timers]).toEqual([])
    expect(n.exec('systemctl is-active sluice-a.timer')).toMatchObject({ stdout: 'inactive\n', code: 3 })
    expect(n.exec('systemctl stop sluice-a.timer other.timer')).toMatchObject({ code: 5 })
    expect(n.exec('systemctl is-system-running').stdout).toBe('running\n')
    expect(n.exec('systemctl mask x')).toMatchObject({ code: 1, stderr: 'Unknown command verb mask.\n' })
    expect(n.exec('systemctl --frobnicate')).toMatchObject({ code: 1 })
  })

  it('prints spans as systemd does', () => {
    const spans: [number, string][] = [
      [0, '0'],
      [1, '1us'],
      [1_500, '1.500ms'],
      [250_000, '250ms'],
      [30_250_000, '30.250000s'],
      [90_000_000, '1min 30s'],
      [5_400_000_001, '1h 30min 1us'],
      [93_784_500_000, '1d 2h 3min 4.500000s'],
    ]
    for (const [us, text] of spans) expect(span(us)).toBe(text)
  })
})

describe('systemd-run', () => {
  it('reads spans and options as they are written, and names what is wrong', () => {
    const { node: n } = node()
    for (const [span, seconds] of [
      ['1h 30min', 5400],
      ['2d', 172_800],
      ['500ms', 0.5],
      ['1h30m', 5400],
      ['7', 7],
    ] as const) {
      expect(n.exec(`systemd-run --on-active '${span}' --unit x.timer true`).code, span).toBe(0)
      expect([...n.timers]).toEqual([['x', seconds * 1e9]])
      n.exec('systemctl stop x.timer')
    }
    const wrong: [string, RegExp][] = [
      ['--setenv=A=b --unit=x --on-active=1 true', /unrecognized option '--setenv'/],
      ['-p User=x --unit=x --on-active=1 true', /invalid option -- 'p'/],
      ['--unit=x --on-active=1 nosuch', /Failed to find executable nosuch/],
      ['--unit="a b" --on-active=1 true', /mangle/],
      ['--unit=x --on-active=soon true', /parse OnActiveSec=soon/],
      ['--unit=x --on-active=1 --timer-property=OnCalendar=daily true', /assignment/],
      ['--unit', /requires an argument/],
    ]
    for (const [args, why] of wrong)
      expect(n.exec(`systemd-run ${args}`), args).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(why) as string,
      })
    expect(n.timers.size).toBe(0)
  })
})
