/**
 * Tasks of the process that reads files from elsewhere, and the limits that it is killed at. A loop inside SQLite cannot be ended from
 * within its process, and a thread of it cannot be ended either: so whatever is read for the first time is read in another process.
 */
import { statSync } from 'node:fs'
import * as z from 'zod'

const path = z.string().min(1).max(4096)

export const foreignTask = z.discriminatedUnion('kind', [
  /** Reads a recording, or a history, through. */
  z.object({ kind: z.literal('check'), file: path }),
  /** Copies one of an older Sluice into a folder, brings the copy up to date and reads it through. */
  z.object({ kind: z.literal('upgrade'), file: path, folder: path }),
  /** Compares a bundle with its hashes and reads what is in it; its recording is unpacked into a folder. */
  z.object({ kind: z.literal('verify'), file: path, folder: path }),
  /** Unpacks the recording of a bundle into a folder, brings it up to date and reads it through. */
  z.object({ kind: z.literal('unpack'), file: path, folder: path }),
])
export type ForeignTask = z.infer<typeof foreignTask>

export interface Limits {
  /** From the moment the process takes the task. */
  readonly timeMs: number
  /** Of the process, where the system reports it. */
  readonly memoryBytes: number
  /** Characters of the answer. */
  readonly answerChars: number
}

const MIB = 2 ** 20
/** What a small file may take on a machine that is busy. */
const FLOOR_MS = 15_000
/** A megabyte of samples is read in some milliseconds, over a slow network file system in a hundred. */
const PER_MIB_MS = 250
/** What is packed in a bundle is several times as large. */
const PER_PACKED_MIB_MS = 1_000
const MOST_MS = 900_000

/** A verdict has a manifest in it, which has at most 4 MiB. */
export const ANSWER_MOST = 16 * MIB
/** Heap of JavaScript in the process, MiB: a notebook of the largest size takes a third of it. */
export const HEAP_MIB = 768
export const MEMORY_MOST = 1_024 * MIB

/** Limits of a task, by the size of its file. */
export function limitsOf({ kind, file }: ForeignTask): Limits {
  const mib = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MIB
  const perMib = kind === 'check' || kind === 'upgrade' ? PER_MIB_MS : PER_PACKED_MIB_MS
  return {
    timeMs: Math.min(MOST_MS, FLOOR_MS + Math.round(mib * perMib)),
    memoryBytes: MEMORY_MOST,
    answerChars: ANSWER_MOST,
  }
}

/** To the process. */
export interface ToForeign {
  readonly number: number
  readonly task: ForeignTask
  readonly answerChars: number
  /** It ends itself somewhat later, should whoever started it be gone. */
  readonly timeMs: number
}

/** From the process: `ready` once it can take a task, then one answer for each; `text` is JSON of a Result. */
export const fromForeign = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('answer'), number: z.number().int(), text: z.string().max(ANSWER_MOST) }),
])
