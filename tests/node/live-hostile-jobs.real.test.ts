/**
 * Exploits by job id: 10,000 names that users of a cluster might choose, from a server's job_stats over real SSH to the screen,
 * into rules, and out of the command line tools. None is ever executed: executed ones would create a file.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomStream } from '#core/base/random.ts'
import { noSshd } from '../kits/electron/ssh/sshd.ts'
import { startStillLab, type StillLab } from '../lab/still-lab.ts'
import { scriptFolder } from '../lab/stand-ins.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'
import { tempFolder } from './temp-folder.ts'

const LAUNCHER = join(import.meta.dirname, '../../electron/cli/sluice.mjs')
const COUNT = 10_000
/** Short: a job id has 31 bytes. */
const CANARY = `/tmp/c${process.pid.toString(36)}`
const PIECES = [
  `$(>${CANARY})`,
  `\`>${CANARY}\``,
  `';>${CANARY};'`,
  `";>${CANARY};"`,
  `\n>${CANARY}\n`,
  `|tee ${CANARY}`,
  "'",
  '"',
  '\\',
  '$IFS',
  '${x}',
  '&',
  ';',
  '*',
  '?',
  '~',
  '#',
  '!',
  '-n',
  '--',
  '%s',
  '%n',
  ' ',
  '\t',
  '\n',
  '\r',
  '\x1b[2J',
  '\x1b]0;x\x07',
  '\x9b31m',
  '\x7f',
  '\x01',
  '\b',
  '<b>',
  '<img src=x onerror=alert(1)>',
  '&lt;',
  '{{x}}',
  // U+202E and U+2066, in bytes.
  '\xe2\x80\xae',
  '\xe2\x81\xa6',
  '\xe9',
  '\xff',
  '\xc3',
  '\xc0\xaf',
  '=cmd|x!A1',
  '+1',
  '-1',
  '@SUM(1)',
  '..',
  '../',
  '@',
  ':',
  ',',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  '}&nid={*',
  '} rate=9',
  'job_id:',
  '- job_id: x',
  '...',
  '---',
  '|',
  'constructor',
  '__proto__',
  'default',
  '0',
  '1e9',
  'null',
  'true',
] as const

/** Distinct, 1 to 31 bytes, no NUL. */
function hostileIds(): string[] {
  const random = randomStream(11, 'hostile job ids')
  const ids = new Set<string>(PIECES.map((p) => p.slice(0, 31)))
  while (ids.size < COUNT) {
    const parts = Array.from({ length: 1 + random.below(4) }, () =>
      random.below(4) === 0 ? String.fromCharCode(1 + random.below(255)) : (PIECES[random.below(PIECES.length)] ?? ''),
    )
    const text = parts.join('')
    ids.add(random.below(3) === 0 ? text.padEnd(31, String(ids.size)).slice(0, 31) : text.slice(0, 31))
  }
  return [...ids]
}

describe.skipIf(noSshd !== '')('10,000 hostile job ids', () => {
  const ids = hostileIds()
  let lab: StillLab
  let live: LiveConsole
  beforeAll(async () => {
    // Sampled rarely: these tests already load the host heavily.
    lab = await startStillLab({ servers: 1, jobs: COUNT, ids, moves: true, settings: { interval_ms: 4000 } })
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
    await live.show(3)
  })
  afterAll(async () => {
    await live?.close()
    lab?.stop()
  })

  it('are collected one by one and shown as they are', async () => {
    const shown = new Set<string>()
    for (let offset = 0; offset < COUNT; offset += 200) {
      const query = { stream: `j${offset}`, sort: 'jobId' as const, descending: false, offset, limit: 200 }
      for await (const f of await live.client.views.jobs(query)) {
        expect(f.shown).toBe(COUNT)
        for (const id of f.rows.jobId) shown.add(id)
        break
      }
    }
    expect(ids.filter((id) => !shown.has(id))).toEqual([])
    expect(shown.size).toBe(COUNT)
    expect(existsSync(CANARY)).toBe(false)
  })

  it('become a rule that /bin/sh reads as it was meant, or are refused with the reason', async () => {
    const bin = scriptFolder(
      Object.fromEntries(['lctl', 'systemd-run', 'systemctl'].map((p) => [p, 'printf "%s\\0" "${0##*/}" "$@"'])),
    )
    const argv = (command: string): string[] =>
      execFileSync('/bin/sh', {
        input: Buffer.from(command, 'latin1'),
        encoding: 'latin1',
        env: { PATH: `${bin}:/usr/bin:/bin` },
      })
        .split('\0')
        .slice(0, -1)
    let taken = 0
    let refused = 0
    // From a first attempt that was late.
    await live.client.rules.unstage({ service: 'ost_io', id: null })
    // Every draft is tried against all jobs: each part alone, and some of their combinations.
    for (const [i, id] of ids.entries()) {
      if (i >= PIECES.length && i % 500 > 0) continue
      const value = `reg start sl_${i} jobid={${id}} rate=5`
      const { faults, form, text } = await live.client.rules.check({ service: 'ost_io', draft: { text: value } })
      if (faults.length > 0) {
        refused++
        for (const f of faults) expect(f.message).toMatch(/^\P{Cc}+$/u)
        await expect(
          live.client.rules.stage({ service: 'ost_io', form, terms: { expiresS: 600, reason: id } }),
        ).rejects.toMatchObject({ data: { code: 'DRAFT_FAULTY' } })
        continue
      }
      taken++
      await live.client.rules.stage({ service: 'ost_io', form, terms: { expiresS: 600, reason: id } })
      // On a busy machine so many jobs may delay the server; a plan has the servers that answer.
      await expect
        .poll(async () => (await live.staged()).review?.nodes.length, { timeout: 60_000, interval: 250 })
        .toBe(1)
      const commands = (await live.staged()).review?.nodes[0]?.commands ?? []
      const rules = commands.map(argv).filter(([program]) => program === 'lctl')
      expect(rules).toEqual([['lctl', 'set_param', `ost.OSS.ost_io.nrs_tbf_rule=${text}`]])
      await live.client.rules.unstage({ service: 'ost_io', id: null })
    }
    expect(taken).toBeGreaterThan(5)
    expect(refused).toBeGreaterThan(15)
    expect(existsSync(CANARY)).toBe(false)
  })

  it.each([{ flags: [] }, { flags: ['--json'] }])(
    'reach no terminal as they are: sluice watch $flags',
    async ({ flags }) => {
      // Two consoles at 10,000 jobs would exceed the purpose of this test.
      await live.client.clusters.disconnect({ name: live.name })
      const args = ['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, 'watch', 'still', '--for', '10']
      const env = { ...process.env, SLUICE_DATA: tempFolder(), SSH_AUTH_SOCK: '' }
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [LAUNCHER, ...args, ...flags], {
        env,
        cwd: tempFolder(),
        encoding: 'latin1',
        maxBuffer: 1 << 26,
      })
      expect(stdout.split('\n').length).toBeGreaterThan(flags.length > 0 ? 1 : 20)
      // Control codes of the command's own table.
      expect(`${stdout}${stderr}`.replace(/^\x1b\[H\x1b\[2?J/gm, '')).toMatch(/^[\n\x20-\x7e]*$/)
      expect(existsSync(CANARY)).toBe(false)
    },
  )
})
