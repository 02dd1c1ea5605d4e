/** The `fork` section of a scenario: its origin, and the aspects of it that the model does not cover. */
import * as z from 'zod'

const text = z.string().min(1).max(600)
const LINES_MAX = 60

export const fork = z
  .strictObject({
    cluster: z.string().min(1).max(128).describe('what it was forked from'),
    at: z.iso.datetime({ offset: true }).describe('last instant that was observed'),
    span_s: z.number().positive().max(1e9).describe('length of what was observed'),
    workload: z.enum(['open', 'closed']),
    size_kib: z
      .tuple([z.number().positive(), z.number().positive()])
      .optional()
      .describe('sizes of RPCs that devices are fitted on'),
    unknown: z.array(text).max(LINES_MAX).default([]).describe('what the model does not know'),
    in_range: z.array(text).max(LINES_MAX).default([]).describe('what was observed'),
  })
  .describe('where a fork comes from')

export type ForkProvenance = z.infer<typeof fork>
