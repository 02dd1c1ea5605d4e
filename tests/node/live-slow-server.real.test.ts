/** A connected server whose readings take longer than a sample waits: one-shot commands wait for it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { tempFolder } from './temp-folder.ts'

const HOSTS = ['oss01', 'oss02'] as const
/** Rules of oss02 take two sampling periods to read. */
const SLOW = [
  'PATH=${PATH#*:}',
  'case "$*" in get_param*nrs_tbf_rule*) [ "$(hostname)" != oss02 ] || sleep 2 ;; esac',
  'exec lctl "$@"',
].join('\n')

describe.skipIf(noSshd !== '')('a server that is slow', () => {
  let lab: Lab
  const data = tempFolder()
  beforeAll(async () => {
    lab = await startLab({ servers: HOSTS, programs: { lctl: SLOW }, settings: { interval_ms: 1000 } })
  })
  afterAll(async () => lab?.stop())

  const sluice = (...args: string[]): Promise<Ended> =>
    runSluice(['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args, '--json'], {
      SLUICE_DATA: data,
      SSH_AUTH_SOCK: '',
    })

  it('has its rules listed, and takes part in a change', async () => {
    const listed = await sluice('rules', 'list', 'demo')
    expect([listed.code, listed.stderr]).toEqual([0, ''])
    expect(JSON.parse(listed.stdout)).toMatchObject({ nodes: HOSTS.map((host) => ({ host })) })
    const desired = join(tempFolder(), 'desired.yaml')
    writeFileSync(desired, 'rules:\n  - { match: "jobid={4690.python.u1021}", rate: 300, name: sl_hog }\n')
    const planned = await sluice('rules', 'plan', 'demo', '--desired', desired)
    const { id } = JSON.parse(planned.stdout) as { id: string }
    const applied = await sluice('rules', 'apply', id, '--target', 'demo', '--canary', '0')
    expect([applied.code, applied.stderr]).toEqual([0, ''])
    for (const host of HOSTS) expect(await lab.rules(host)).toMatch(/^sl_hog /m)
    expect((await sluice('rules', 'clean', 'demo')).code).toBe(0)
  })
})
