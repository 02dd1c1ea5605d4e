import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { devices, params } from '#tests/kits/cli/probed-server.ts'
import { keyPair, scriptedNode, type ScriptedNode } from '#tests/kits/cli/scripted-node.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

// Independent of the keys and SSH settings of the user.
const home = tempFolder()
process.env['HOME'] = home

const sluice = (...args: readonly string[]): Promise<Ended> => runSluice(['probe', ...args], { SSH_AUTH_SOCK: '' })

describe('sluice probe', () => {
  let server: ScriptedNode
  let known: string
  let at: readonly string[]
  beforeAll(async () => {
    server = await scriptedNode({ params, devices })
    known = join(home, 'known')
    writeFileSync(known, server.known)
    at = ['127.0.0.1', '-p', String(server.port), '-u', 'root', '-i', server.key]
  })
  afterAll(() => server?.stop())

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
      host_key: { type: 'ssh-ed25519', fingerprint: server.fingerprint },
      strict_kex: true,
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
          cpu_ms: null,
          command: expect.stringMatching(/^lctl get_param 'obdfilter/) as string,
        },
      ],
      steps: expect.arrayContaining([
        expect.objectContaining({ id: 'sudo', command: 'id -u; id -un; hostname' }),
      ]) as unknown,
    })
    const { cost } = JSON.parse(lines[0] as string) as { cost: { bytes: number; ms: number }[] }
    expect(cost[0]?.bytes).toBeGreaterThan(3000)
    expect(cost[0]?.ms).toBeGreaterThan(0)
  })

  it('prints the checklist for a person, each command before its answer', async () => {
    const ended = await sluice(...at, '--known-hosts', known)
    expect(ended.code).toBe(0)
    const lines = ended.stdout.split('\n')
    const requests = lines.findIndex((l) => l.endsWith('lctl     $ lctl get_param -n version'))
    const answered = lines.findIndex((l) => /ok +lctl .* ms {2}lctl: Lustre 2\.15\.8$/.test(l))
    expect(requests).toBeGreaterThan(0)
    expect(answered).toBeGreaterThan(requests)
    expect(ended.stdout).toMatch(/reading +oss: \d+ bytes, [\d.]+ ms, CPU not known/)
  })

  it('says of a service that runs fifo that it has no rules, not that they cannot be read', async () => {
    const fifo = {
      ...params,
      'ost.OSS.ost_io.nrs_policies': params['ost.OSS.ost_io.nrs_policies'].split('\n  - name: tbf')[0]!,
    }
    const { 'ost.OSS.ost_io.nrs_tbf_rule': _, ...others } = fifo
    const plain = await scriptedNode({ params: others, devices })
    try {
      const flags = ['-u', 'root', '-i', plain.key, '--trust', plain.fingerprint, '--no-cost']
      const ended = await sluice(`127.0.0.1:${plain.port}`, ...flags)
      expect(ended.stdout).toMatch(/ost_io +fifo; no rules: tbf is not running\n/)
    } finally {
      plain.stop()
    }
  })

  it('ends with 3 and the fingerprint at an unknown host key, before any authentication', async () => {
    const before = server.logins()
    const ended = await sluice(...at, '--json')
    const shown = server.fingerprint
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain(shown)
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: false, error: { code: 'SSH_HOST_KEY_UNKNOWN' } })
    expect(ended.stderr).toMatch(/FAILED host key /)
    expect(server.logins()).toBe(before)
    expect((await sluice(...at, '--trust', shown, '--no-cost', '--json')).code).toBe(0)
    expect(server.logins()).toBeGreaterThan(before)
  })

  it('ends with 4 if the login is refused, with 1 if nothing listens, with 5 if one of two fails', async () => {
    const other = keyPair().identity
    const wrong = at.map((a) => (a === server.key ? other : a))
    expect(await sluice(...wrong, '--known-hosts', known, '--json')).toMatchObject({ code: 4 })
    const locked = join(home, 'locked')
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'secret', cipher: 'aes256-cbc', rounds: 16 })
    writeFileSync(locked, pair.private, { mode: 0o600 })
    const asks = await sluice(...at.map((a) => (a === server.key ? locked : a)), '--known-hosts', known, '--json')
    expect(asks.code).toBe(4)
    const unreachable = ['127.0.0.1:1', ...at.slice(1), '--known-hosts', known, '--json']
    expect(await sluice(...unreachable)).toMatchObject({ code: 1 })
    const two = await sluice(...unreachable, '127.0.0.1', '--no-cost')
    expect(two.code).toBe(5)
    expect(
      two.stdout
        .trim()
        .split('\n')
        .map((l) => (JSON.parse(l) as { ok: boolean }).ok),
    ).toEqual([false, true])
  })

  it.each([[[]], [['a b']], [['-p', '0', 'h']], [['h', '--trust', 'MD5:x']], [['$(reboot)']], [['u;x@h']]])(
    'ends with 2 for %j',
    async (args) => {
      expect(await sluice(...args)).toMatchObject({ code: 2, stdout: '' })
    },
  )

  it('exploit: an output of a server that would write to the terminal is printed as text', async () => {
    const evil = await scriptedNode({ params: { ...params, version: 'version=2.15.8\x1b]0;owned\x07\n' }, devices })
    try {
      const flags = ['-u', 'root', '-i', evil.key, '--trust', evil.fingerprint, '--no-cost']
      const ended = await sluice(`127.0.0.1:${evil.port}`, ...flags)
      expect(ended.code).toBe(0)
      expect(ended.stdout + ended.stderr).toMatch(/^[\x20-\x7e\n]*$/)
    } finally {
      evil.stop()
    }
  })
})
