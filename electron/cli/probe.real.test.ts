/** `sluice probe` against a real OpenSSH server and a real shell, the only way to see the actual cost of a reading. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ended } from '#tests/kits/cli/in-process.ts'
import { devices, params } from '#tests/kits/cli/probed-server.ts'
import { sluiceProcess } from '#tests/kits/cli/process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { startStandIn, type StandIn } from '#tests/kits/electron/cluster/stand-in.ts'
import { fingerprint, me, noSshd } from '#tests/kits/electron/ssh/sshd.ts'

const home = tempFolder()
const sluice = (...args: readonly string[]): Promise<Ended> =>
  sluiceProcess(['probe', ...args], { HOME: home, SSH_AUTH_SOCK: '' })

describe.skipIf(noSshd !== '')('sluice probe', () => {
  let server: StandIn
  let known: string
  let at: readonly string[]
  beforeAll(async () => {
    server = await startStandIn({ params, devices })
    known = join(home, 'known')
    writeFileSync(known, server.sshd.knownLines())
    at = ['127.0.0.1', '-p', String(server.sshd.port), '-u', me, '-i', server.key]
  })
  afterAll(() => server?.sshd.stop())

  it('tells as JSON what a server is and what a reading of it costs', async () => {
    const ended = await sluice(...at, '--known-hosts', known, '--json')
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/none of these hosts serves: testfs-OST0001/) as string,
    })
    const lines = ended.stdout.trim().split('\n')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      ok: true,
      host_key: { type: 'ssh-ed25519', fingerprint: fingerprint(server.sshd.hostKeys[0] as string) },
      strict_kex: true,
      channel: 'framed',
      hostname: 'oss01',
      version: '2.15.8',
      roles: ['mgs', 'oss'],
      targets: ['testfs-OST0000'],
      expected_targets: ['testfs-OST0000', 'testfs-OST0001'],
      cpts: 1,
      services: [
        {
          service: 'ost_io',
          policy: 'tbf jobid',
          reads_rules: true,
          rules: [{ name: 'sl_a', rate: 50 }, { name: 'default' }],
        },
      ],
      sudo: { kind: 'root' },
      jobid: { variable: 'SLURM_JOB_ID', name: '%j' },
      cost: [
        {
          role: 'oss',
          runs: 10,
          exit: 0,
          cpu_step_ms: 1,
          command: expect.stringMatching(/^lctl get_param 'obdfilter/) as string,
        },
      ],
      steps: expect.arrayContaining([
        expect.objectContaining({ id: 'sudo', command: 'id -u; id -un; hostname' }),
      ]) as unknown,
    })
    const { cost } = JSON.parse(lines[0] as string) as { cost: { bytes: number; ms: number; cpu_ms: number }[] }
    expect(cost[0]?.bytes).toBeGreaterThan(3000)
    expect(cost[0]?.ms).toBeGreaterThan(0)
    expect(cost[0]?.cpu_ms).toBeGreaterThan(0)
  })

  it('prints the checklist for a person, each command before its answer', async () => {
    const ended = await sluice(...at, '--known-hosts', known)
    expect(ended.code).toBe(0)
    const lines = ended.stdout.split('\n')
    const requests = lines.findIndex((l) => l.endsWith('lctl     $ lctl get_param -n version'))
    const answered = lines.findIndex((l) => /ok +lctl .* ms {2}lctl: Lustre 2\.15\.8$/.test(l))
    expect(requests).toBeGreaterThan(0)
    expect(answered).toBeGreaterThan(requests)
    expect(ended.stdout).toMatch(/reading +oss: \d+ bytes, [\d.]+ ms, [\d.]+ ms CPU/)
  })

  it('ends with 3 and the fingerprint at an unknown host key, before any authentication', async () => {
    const ended = await sluice(...at, '--json')
    const shown = fingerprint(server.sshd.hostKeys[0] as string)
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain(shown)
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: false, error: { code: 'SSH_HOST_KEY_UNKNOWN' } })
    expect(ended.stderr).toMatch(/FAILED host key /)
    const before = server.sshd.log().split('Accepted publickey').length
    expect((await sluice(...at, '--trust', shown, '--no-cost', '--json')).code).toBe(0)
    expect(server.sshd.log().split('Accepted publickey').length).toBe(before + 1)
  })
})
