/** Paths of the console's data, and of the user's ssh files that it reads. Read-only. */
import { oc } from '@orpc/contract'
import * as z from 'zod'

const place = z.object({
  what: z.string(),
  /** Path for display; empty: in memory only, or absent. */
  path: z.string(),
  /** True if it exists now. */
  isThere: z.boolean(),
})
export type Place = z.infer<typeof place>

export const machineFacts = z.object({
  version: z.string(),
  runtime: z.string(),
  /** Empty: nothing is stored on this machine. */
  dataDir: z.string(),
  files: z.array(place).max(32),
  /** ssh files that are read; only the last, the console's trust store, is written. */
  ssh: z.array(place).max(16),
})
export type MachineFacts = z.infer<typeof machineFacts>

export const machineVerbs = { facts: oc.output(machineFacts) }
