/**
 * Replays the scheduler commands that were run on idle servers, one after another, with the exit codes of lctl and, byte for
 * byte, the values read between them.
 */
import { describe, expect, it } from 'vitest'
import { CORPUS } from '../../tests/corpus.ts'
import { readCorpus, type CorpusRecord } from '../../tests/node/corpus/records.ts'
import { stepsOf } from '../../tests/node/corpus/scenes.ts'
import type { Result } from '../base/result.ts'
import { errnoNumber, type Errno } from '../lustre/errno.ts'
import { profile } from '../lustre/profile.ts'
import { NrsService } from './nrs-service.ts'
import type { ScheduledRequest } from './scheduler.ts'
import { splitWords } from './pasted-line.ts'

if (CORPUS === '') console.log('nrs-corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

type Service = NrsService<ScheduledRequest>

const SETTING = /^ost\.OSS\.(?:ost_io|\*)\.(nrs_policies|nrs_tbf_rule)=(.*)$/s
const READ = /^lctl get_param (-n )?(ost\.OSS\.ost_io\.(nrs_policies|nrs_tbf_rule))$/

/** True for records run as root on an idle server that has OSTs and the modules loaded. */
const isOfService = (r: CorpusRecord): boolean =>
  r.user === 'root' && r.load === 'none' && !/^no(?:ost|mod)-/.test(r.id)

const exitOf = (done: Result<unknown, Errno>): number => (done.ok ? 0 : errnoNumber(done.error))

/** Executes the writes of a command on the service; returns their exit codes. */
function write(s: Service, command: string): number[] {
  const values = splitWords(command).words.map(({ text }) => text)
  const printed = command.endsWith('/ost/OSS/ost_io/nrs_tbf_rule') && values[0] === 'printf' ? values[1] : undefined
  if (printed !== undefined) return [exitOf(s.writeRule(printed.replace('\\n', '\n')))]
  return values.flatMap((v) => {
    const [, name, value] = SETTING.exec(v) ?? []
    if (value === undefined || value === '') return []
    return [exitOf(name === 'nrs_policies' ? s.writePolicies(value) : s.writeRule(value))]
  })
}

describe.skipIf(CORPUS === '')('commands given to real servers', () => {
  const corpus = CORPUS === '' ? new Map<string, CorpusRecord[]>() : readCorpus(CORPUS)
  const full = [...corpus.values()].reduce((a, b) => (b.length > a.length ? b : a), [])

  it.each([...corpus.keys()])('are answered as in %s', (file) => {
    const records = (corpus.get(file) ?? []).filter(isOfService)
    const { release, cpt } = records[0] as CorpusRecord
    const s: Service = new NrsService<ScheduledRequest>({ cpts: cpt ?? 1, hp: true, profile: profile(release) })
    const compared = { written: 0, read: 0 }
    for (const { unrecorded, record } of stepsOf(records, full)) {
      for (const command of unrecorded) write(s, command)
      const at = `${record.id}: ${record.command}`
      const [, isBare, name, attribute] = READ.exec(record.command) ?? []
      if (attribute === undefined) {
        const exits = write(s, record.command)
        // With several writes or a redirection, the exit code is not that of the error.
        if (exits.length !== 1 || !record.command.startsWith('lctl set_param ost.OSS.ost_io.')) continue
        expect(exits, at).toEqual([record.exit])
        compared.written++
        continue
      }
      const value = attribute === 'nrs_policies' ? s.readPolicies() : s.readRules()
      expect(exitOf(value), at).toBe(record.exit)
      expect(value.ok ? `${isBare ? '' : `${name}=\n`}${value.value}` : '', at).toBe(record.stdout)
      compared.read++
    }
    console.log(`${file}: ${compared.written} writes and ${compared.read} reads compared`)
    expect(Math.min(compared.written, compared.read)).toBeGreaterThan(25)
  })
})
