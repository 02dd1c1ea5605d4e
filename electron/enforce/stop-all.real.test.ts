import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { NodeConnection } from '../base/connection.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { Audit, type AuditRecord } from '../base/audit.ts'
import { makeTimerCommand } from './expiry.ts'
import { findLeftovers, type LeftoverParts } from './leftovers.ts'
import { isReading } from '../cluster/remote/read-only.ts'
import { stopScriptText } from './stop-script.ts'
import { EnforcementStore } from './store.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const managed = 'ab_0123456789'

let source: EmulatedSource
let oss: EmulatedNode
let store: EnforcementStore
let records: AuditRecord[]
let sent: string[]
let node: NodeConnection
/** Commands that are not answered, lose their answer, or are refused. */
let fate: (command: string) => 'ok' | 'lost' | 'lost after' | 'refused'

beforeEach(() => {
  source = new EmulatedSource(twoJobs())
  oss = source.emulator.node('oss01') as EmulatedNode
  const opened = EnforcementStore.open(':memory:', 0)
  if (!opened.ok) throw new Error('no store')
  store = opened.value
  records = []
  sent = []
  fate = () => 'ok'
  const inner = source.nodes.find((n) => n.host === 'oss01') as NodeConnection
  node = {
    ...inner,
    exec: async (command) => {
      const f = fate(command)
      if (f === 'lost') return lost('the connection was lost')
      if (f === 'refused') return printed('', 'error: set_param: no\n', 22)
      if (!isReading(command)) sent.push(command)
      const r = await inner.exec(command)
      if (f === 'lost after') return lost('the connection was lost')
      return r
    },
  }
})
const audit = (): Audit => new Audit((r) => records.push(r))
const put = (value: string): void => void expect(oss.exec(setParamCommand(OST, value)).code, value).toBe(0)
const keep = (name: string, unit = '', expiresMs: number | null = null): void =>
  store.rules.keep({
    cluster: 'demo',
    host: 'oss01',
    service: 'ost_io',
    queue: 'reg',
    name,
    change: 'c1',
    owner: 'ada@desk',
    reason: 'noisy',
    ticket: '',
    createdMs: 0,
    unit,
    expiresMs,
    realtime: false,
  })
const timer = (unit: string, names: readonly string[], seconds = 600): void => {
  const stops = names.map((name) => ({ parameter: OST, queue: 'reg' as const, name }))
  const made = makeTimerCommand('systemd', { unit, seconds, stops })
  expect(made.ok && oss.exec(made.value).code).toBe(0)
}

describe('leftovers', () => {
  const lookParts = (more: Partial<LeftoverParts> = {}): LeftoverParts & { audit: Audit } => ({
    cluster: 'demo',
    nodes: [node],
    store,
    nowMs: () => 1_000_000,
    audit: audit(),
    isHeld: () => false,
    heldUnits: new Set<string>(),
    ...more,
  })

  it('are not what this process holds, what a living console keeps, or what others wrote', async () => {
    put('reg start theirs jobid={x.*} rate=9')
    put(`reg start ${managed} jobid={a.0} rate=5`)
    put('reg start hog jobid={b.0} rate=6')
    timer('sluice-lease-s1-1', [managed])
    timer('sluice-c1', ['hog'])
    const lease = {
      cluster: 'demo',
      host: 'oss01',
      unit: 'sluice-lease-s1-1',
      owner: 'o',
      rules: 1,
      createdMs: 0,
      expiresMs: 2_000_000,
    }
    store.leases.keep({ ...lease, machine: 'elsewhere', pid: 1, born: '' })
    expect(
      (await findLeftovers(lookParts({ isHeld: (s) => s.name === 'hog', heldUnits: new Set(['sluice-c1']) }))).list,
    ).toEqual([])
    // Its unit is recorded in the store for this very process, so it is not a leftover.
    keep('hog', 'sluice-c1', 2_000_000)
    expect((await findLeftovers(lookParts())).list).toEqual([])
    // The lease of a process that has ended is an orphan.
    const dead = spawnSync(process.execPath, ['-e', 'process.stdout.write(`${process.pid} ${os.hostname()}`)'], {
      encoding: 'utf8',
    })
    const [pid, machine = ''] = dead.stdout.split(' ')
    store.leases.keep({ ...lease, machine, pid: Number(pid), born: '' })
    expect((await findLeftovers(lookParts())).list).toMatchObject([{ rule: managed, timer: 'sluice-lease-s1-1' }])
  })
})

describe('the script of the global stop', () => {
  it('does the same in a plain shell, finds what the console does not know, and touches nothing else', () => {
    const folder = scratch()
    const rules = join(folder, 'rules')
    // Fake lctl: a list of rules in a file.
    writeFileSync(
      join(folder, 'lctl'),
      `#!/bin/sh
case $1 in
get_param) [ "$3" = ${OST} ] && cat '${rules}' ;;
set_param) v=\${2#*=}; grep -v "^\${v##* } " '${rules}' >'${rules}.new'; mv '${rules}.new' '${rules}'; echo "$2" >>'${folder}/log' ;;
esac
`,
    )
    chmodSync(join(folder, 'lctl'), 0o755)
    const foreign =
      'regular_requests:\nCPT 0:\ntheirs {x.*} 9, ref 0\nab_theirs {y} 9, ref 0\ndefault {*} 10000, ref 1\n'
    writeFileSync(
      rules,
      foreign.replace('theirs {x', `${managed} {a.0} 5, ref 0\nhog {b.0} 5, ref 0\nsl_new {c} 5, ref 0\ntheirs {x`),
    )
    const spot = { host: 'oss01', service: 'ost_io' as const, queue: 'reg' as const }
    const servers = [
      {
        host: 'oss01',
        roles: ['oss'] as const,
        rules: [
          { ...spot, name: managed },
          { ...spot, name: 'hog' },
        ],
        units: ['sluice-t1'],
      },
      { host: "o'; reboot #", roles: ['oss'] as const, rules: [{ ...spot, name: '$(id)' }], units: ['$(id)'] },
    ]
    const script = stopScriptText("a\n; reboot '", servers, 0, 0)
    expect(script.rules).toBe(2)
    for (const shell of ['/bin/dash', '/bin/bash'])
      expect(spawnSync(shell, ['-n'], { input: script.text }).status).toBe(0)
    expect(script.text).not.toMatch(/\$\(id\)/)
    const run = (...args: string[]) =>
      spawnSync('/bin/sh', ['-s', ...args], {
        input: script.text,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, LCTL: join(folder, 'lctl') },
      })
    expect(run().status).toBe(2)
    expect(run('oss01')).toMatchObject({ status: 0, stdout: 'oss01: no rule of Sluice is left\n' })
    expect(readFileSync(rules, 'utf8')).toBe(foreign)
    expect(readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')).toEqual([
      `${OST}=reg stop ${managed}`,
      `${OST}=reg stop hog`,
      `${OST}=stop sl_new`,
    ])
    expect(run("o'; reboot #").status).toBe(0)
  })
})
