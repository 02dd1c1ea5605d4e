/**
 * Control period on servers whose parameters are files, read by the streaming reader: a console that is killed leaves no reader and,
 * after its lease, no rule; a reader that hangs is replaced; a period that a server's budget does not allow becomes longer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noServers } from '../lab/nspawn.ts'
import { startPeriodLab, type PeriodLab } from '../lab/period/lab.ts'
import { ConsoleFolder, isFull, ownRulesOn, until, type Console } from './lab.ts'

const HOST = 'oss01'
const FEED = { jobs: 12, targets: 2, changed: 6, hz: 10 }
const LARGE = { jobs: 300, targets: 8, changed: 300, hz: 10 }
const PATIENCE_MS = 240_000

describe.skipIf(noServers !== '').each((['ops', 'root'] as const).filter((l) => isFull || l === 'ops'))(
  'the reader of a console that logs in as %s',
  (login) => {
    let lab: PeriodLab
    const consoles: Console[] = []
    beforeAll(async () => {
      // The smallest share of a core, so that a large table needs a longer period on any machine.
      const settings = { interval_ms: 200, core_share: 0.01 }
      lab = await startPeriodLab({ servers: 1, targets: 8, login, sudo: 'write', settings })
      await lab.run(HOST, "lctl set_param ost.OSS.ost_io.nrs_policies='tbf jobid'")
    })
    afterEach(async () => {
      for (const { child, ended } of consoles.splice(0)) {
        child.kill('SIGKILL')
        await ended
      }
      await until(readers, (pids) => pids.length === 0)
    })
    afterAll(async () => lab?.stop())

    /** Process ids of readers on the server. */
    const readers = async (): Promise<string[]> => {
      const line = 'for p in /proc/[0-9]*; do case $(readlink $p/exe) in */mawk | */gawk) echo ${p#/proc/};; esac; done'
      return (await lab.run(HOST, line)).split('\n').filter((pid) => pid !== '')
    }
    const start = (...words: readonly string[]): Console => {
      const folder = new ConsoleFolder(lab.lab)
      const console = folder.start(words[0] ?? '', folder.cluster, ...words.slice(1))
      consoles.push(console)
      return console
    }

    it('ends when the console is killed, and the rules end with their lease', { timeout: PATIENCE_MS }, async () => {
      await lab.feed(HOST, FEED)
      const console = start('control', '--mode', 'enforce', '--target', lab.lab.cluster, '--json')
      const rules = (): Promise<string[]> => ownRulesOn(lab.lab, HOST)
      await until(rules, (all) => all.length > 0, PATIENCE_MS)
      expect(await readers()).toHaveLength(1)
      console.child.kill('SIGKILL')
      await until(readers, (pids) => pids.length === 0)
      await until(rules, (all) => all.length === 0, PATIENCE_MS)
    })

    it('ends after the console was killed while it hung', { timeout: PATIENCE_MS }, async () => {
      await lab.feed(HOST, FEED)
      const { child, ended } = start('watch', '--json')
      const [pid] = await until(readers, (pids) => pids.length === 1)
      await lab.run(HOST, `kill -STOP ${pid}`)
      child.kill('SIGKILL')
      await ended
      expect(await readers()).toEqual([pid])
      await lab.run(HOST, `kill -CONT ${pid}`)
      await until(readers, (pids) => pids.length === 0)
    })

    it('is replaced by lctl and then by another one while it hangs', { timeout: PATIENCE_MS }, async () => {
      await lab.feed(HOST, FEED)
      const console = start('watch', '--json')
      const [pid] = await until(readers, (pids) => pids.length === 1)
      await lab.run(HOST, `kill -STOP ${pid}`)
      const samples = (): Promise<number> => Promise.resolve(console.stdout().split('\n').length)
      const before = await samples()
      await until(readers, (pids) => pids.some((p) => p !== pid), PATIENCE_MS)
      await until(samples, (n) => n > before)
      await lab.run(HOST, `kill -CONT ${pid} 2>/dev/null; :`)
      await until(readers, (pids) => !pids.includes(pid ?? ''), PATIENCE_MS)
    })

    it(
      'has a longer period when the budget of the server needs it, which is reported',
      { timeout: PATIENCE_MS },
      async () => {
        await lab.feed(HOST, LARGE)
        const { child, ended } = start('watch', '--json')
        let stderr = ''
        child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
        // On a busy machine the duration of a reading may need a longer one than its CPU time.
        const reason =
          /: a reading (?:costs oss01 [\d.]+ ms of CPU time, readings may take 1 %|of oss01 takes [\d.]+ s)/
        const found = await until(
          () => Promise.resolve(/a sample every ([\d.]+) s: .*\n/.exec(stderr)),
          (text) => text !== null,
        )
        expect(Number(found?.[1])).toBeGreaterThan(0.2)
        expect(stderr).toMatch(reason)
        child.kill('SIGTERM')
        await ended
      },
    )
  },
)
