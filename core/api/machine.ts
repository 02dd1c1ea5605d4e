/** Where this console keeps what it keeps, and what of the user's own ssh it reads: facts to show, nothing to be changed. */
import { oc } from '@orpc/contract'
import * as z from 'zod'

const place = z.object({
  what: z.string(),
  /** As words to show; empty: it is in memory only, or there is none. */
  path: z.string(),
  /** Whether it is there now. */
  isThere: z.boolean(),
})
export type Place = z.infer<typeof place>

export const machineFacts = z.object({
  version: z.string(),
  runtime: z.string(),
  /** Empty: nothing is kept on this machine. */
  dataDir: z.string(),
  files: z.array(place).max(32),
  /** What is read of ssh; only the last, the console's own trust store, is written. */
  ssh: z.array(place).max(16),
})
export type MachineFacts = z.infer<typeof machineFacts>

export const machineVerbs = { facts: oc.output(machineFacts) }
