/** Rules on servers with a real systemd: written, ended by the server itself, taken back. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scratch } from '#electron/ssh/testing/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, rulesOn, timerUnitsOn, until } from './lab.ts'

const SCENARIO = `title: Two
cluster: two
clients: { count: 2 }
control: { max_rate: 200, mode: observe }
oss:
  - { name: oss01, osts: [{ name: two-OST0000, disk: { bandwidth_mb_s: 20 } }] }
  - { name: oss02, osts: [{ name: two-OST0001, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }
`
const HOSTS = ['oss01', 'oss02'] as const

describe.skipIf(noServers !== '').each([
  { as: 'root', release: 'bookworm', login: 'root' },
  { as: 'the login with the helper', release: 'bookworm', login: 'ops' },
  { as: 'root of a newer release', release: 'trixie', login: 'root' },
] as const)('a rule on servers with a real systemd, as $as', ({ release, login }) => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'two.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({
      ...{ parts: 'nspawn', scenario, servers: HOSTS, release, login, sudo: 'write' },
    })
  })
  afterAll(async () => lab?.stop())

  it('is written, and gone within two seconds of its expiry; no unit is left', async () => {
    const console = new ConsoleFolder(lab)
    const id = await console.plan([{ name: 'sl_cap', match: 'jobid={1.hog.1001}', rate: 20 }])
    const applied = await console.apply(id, '10s').ended
    expect(applied.stderr).toBe('')
    expect(applied.code).toBe(0)
    for (const host of HOSTS) expect(await rulesOn(lab, host)).toEqual(['ost.OSS.ost_io reg sl_cap'])
    for (const host of HOSTS)
      await until(
        () => rulesOn(lab, host),
        (r) => r.length === 0,
      )
    for (const host of HOSTS)
      await until(
        () => timerUnitsOn(lab, host),
        (u) => u.length === 0,
      )
  })
})
