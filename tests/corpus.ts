/** Parameters as printed by real servers, where the recorded answers are available: SLUICE_CORPUS names their folder. */
import { splitParams } from '../core/lustre/lctl.ts'
import { profile, type Profile } from '../core/lustre/profile.ts'
import { readCorpus, type CorpusRecord } from './node/corpus/records.ts'

export const CORPUS = process.env.SLUICE_CORPUS ?? ''

export interface AnswerRecord extends CorpusRecord {
  readonly file: string
}

/** All answers; empty without a folder. */
export const corpusRecords = (): readonly AnswerRecord[] =>
  CORPUS === '' ? [] : [...readCorpus(CORPUS)].flatMap(([file, records]) => records.map((r) => ({ ...r, file })))

/** Output as bytes, one char code each. */
export const bytesOf = (output: string): string => output

/** One parameter printed by a server, with its final newline. */
export interface PrintedParam {
  /** Origin, for messages. */
  readonly at: string
  readonly profile: Profile
  readonly user: string
  readonly name: string
  readonly value: string
}

// Options change the layout, and with a pipe or a second command the output is not only lctl's.
const isPlainRead = (command: string): boolean =>
  /^(?:\/usr\/sbin\/)?lctl get_param (?!-)/.test(command) && !/[|;&<>]/.test(command)
const BARE = /^(?:\/usr\/sbin\/)?lctl get_param -n '?([\w.@:-]+)'?$/

/** Names and values of an answer; with -n the output has no names, and only that of a single parameter is known. */
function valuesOf(r: CorpusRecord): Map<string, string> {
  const bare = BARE.exec(r.command)
  if (bare && r.exit === 0) return new Map([[bare[1] as string, r.stdout.replace(/\n$/, '')]])
  return isPlainRead(r.command) ? splitParams(r.stdout) : new Map<string, string>()
}

/** Every parameter printed by get_param commands, with any exit code. */
export const printedParams = (): readonly PrintedParam[] =>
  corpusRecords().flatMap((r) =>
    [...valuesOf(r)].map(([name, value]) => ({
      at: `${r.file} ${r.id} ${name}`,
      profile: profile(r.release),
      user: r.user,
      name,
      value: value === '' ? '' : `${value}\n`,
    })),
  )
