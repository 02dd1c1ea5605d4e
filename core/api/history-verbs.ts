/** Verbs that move through time. Nothing here reads or writes a server. */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import { csvPart, csvQuery, span, tierId } from './history.ts'
import { errors } from './parts.ts'

export const historyVerbs = {
  /**
   * Stands at the sample nearest to an instant: in the memory of the source, or else in what is kept on disk, which then is on
   * screen in its place. Refused where nothing is kept.
   */
  goTo: oc
    .errors(errors)
    .input(z.object({ atMs: z.number() }))
    .output(
      z.object({
        sample: z.number().int().nonnegative(),
        atMs: z.number(),
        recorded: z.boolean(),
        /** The turn whose samples it counts in; frames of another are of something else. */
        turn: z.number().int().nonnegative().optional(),
      }),
    ),
  /** The next event after an instant, or the one before; null: none is kept. */
  event: oc
    .input(z.object({ atMs: z.number(), direction: z.enum(['next', 'previous']) }))
    .output(z.object({ atMs: z.number().nullable() })),
  /** Puts a recording on screen. Refused for one that is damaged, or of a newer version. */
  open: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(120) }))
    .output(z.void()),
  /** Ends the playback: the source is on screen again. */
  leave: oc.output(z.void()),
  note: oc
    .errors(errors)
    .input(z.object({ atMs: z.number(), text: z.string().min(1).max(2000) }))
    .output(z.void()),
  /** How long a tier is kept; what is older goes at once. */
  setKeep: oc
    .errors(errors)
    .input(z.object({ tier: tierId, keepMs: z.number().positive() }))
    .output(z.void()),
  setQuota: oc
    .errors(errors)
    .input(z.object({ bytes: z.number().int().positive() }))
    .output(z.void()),
  /** Writes a stretch into a file of its own, which opens on any console. */
  record: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(80), span }))
    .output(z.object({ name: z.string(), bytes: z.number() })),
  removeRecording: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(120) }))
    .output(z.void()),
  csv: oc.errors(errors).input(csvQuery).output(eventIterator(csvPart)),
}
