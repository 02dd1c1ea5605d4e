/**
 * Tasks of the process that reads foreign files, and the limits at which it is killed. A loop inside SQLite cannot be
 * ended from within its process, nor can a thread that runs it: so every file is first read in another process.
 */
import { statSync } from 'node:fs'
import * as z from 'zod'
import { checkedFile } from '../history/open-recording.ts'
import { QUERY_SECONDS, sqlQuery } from '../history/sql.ts'

const path = z.string().min(1).max(4096)

export const foreignTask = z.discriminatedUnion('kind', [
  /** Reads all of a recording or a history. */
  z.object({ kind: z.literal('check'), file: path }),
  /** Copies a file of an older version into a folder, upgrades the copy and reads it. */
  z.object({ kind: z.literal('upgrade'), file: path, folder: path }),
  /** Verifies the hashes and contents of a bundle; its recording is unpacked into a folder. */
  z.object({ kind: z.literal('verify'), file: path, folder: path }),
  /** Unpacks the recording of a bundle into a folder, upgrades it and reads it. */
  z.object({ kind: z.literal('unpack'), file: path, folder: path }),
  /** Runs an SQL query on one cluster of a checked file, by default the newest; its rows are written into a folder. */
  z.object({
    kind: z.literal('query'),
    file: path,
    folder: path,
    checked: checkedFile,
    cluster: z.string().optional(),
    query: sqlQuery,
    seconds: z.number().positive().max(QUERY_SECONDS.most),
  }),
])
export type ForeignTask = z.infer<typeof foreignTask>

/** File with the rows of a query, in its folder: JSON arrays, one a line. */
export const ROWS_FILE = 'rows.jsonl'

export interface Limits {
  /** Time limit, from when the process takes the task. */
  readonly timeMs: number
  /** Memory limit of the process, checked if the system reports its use. */
  readonly memoryBytes: number
  /** Most characters of the answer. */
  readonly answerChars: number
}

const MIB = 2 ** 20
/** Allowance for a small file on a busy machine. */
const FLOOR_MS = 15_000
/** A megabyte of samples takes some milliseconds to read, over a slow network file system a hundred. */
const PER_MIB_MS = 250
/** Bundle contents are several times larger unpacked. */
const PER_PACKED_MIB_MS = 1_000
const MOST_MS = 900_000

/** A verdict includes a manifest of at most 4 MiB. */
export const ANSWER_MOST = 16 * MIB
/** V8 heap of the process, MiB: the largest notebook takes a third of it. */
export const HEAP_MIB = 768
export const MEMORY_MOST = 1_024 * MIB

/** Limits of a task, by the size of its file. */
export function limitsOf(task: ForeignTask): Limits {
  const { kind, file } = task
  if (kind === 'query') return { timeMs: task.seconds * 1000, memoryBytes: MEMORY_MOST, answerChars: ANSWER_MOST }
  const mib = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MIB
  const perMib = kind === 'check' || kind === 'upgrade' ? PER_MIB_MS : PER_PACKED_MIB_MS
  return {
    timeMs: Math.min(MOST_MS, FLOOR_MS + Math.round(mib * perMib)),
    memoryBytes: MEMORY_MOST,
    answerChars: ANSWER_MOST,
  }
}

/** Message to the process. */
export interface ToForeign {
  readonly number: number
  readonly task: ForeignTask
  readonly answerChars: number
  /** The process kills itself somewhat later if its parent is gone. */
  readonly timeMs: number
}

/** Message from the process: `ready` once it can take a task, then one answer per task; `text` is JSON of a Result. */
export const fromForeign = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('answer'), number: z.number().int(), text: z.string().max(ANSWER_MOST) }),
])
