/** Verbs of time travel. They neither read nor write servers. */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import { csvPart, csvQuery, span, tierId } from './history.ts'
import { errors } from './parts.ts'

export const historyVerbs = {
  /**
   * Moves to the sample nearest to a time: in the memory of the source, or else in the store on disk, which is then shown in its place.
   * Refused if there is no data.
   */
  goTo: oc
    .errors(errors)
    .input(z.object({ atMs: z.number() }))
    .output(
      z.object({
        sample: z.number().int().nonnegative(),
        atMs: z.number(),
        recorded: z.boolean(),
        /** Generation of the sample numbering; frames of another generation belong to another source or playback. */
        turn: z.number().int().nonnegative().optional(),
      }),
    ),
  /** Next or previous event relative to a time; null if there is none. */
  event: oc
    .input(z.object({ atMs: z.number(), direction: z.enum(['next', 'previous']) }))
    .output(z.object({ atMs: z.number().nullable() })),
  /** Opens a recording. Refused if it is damaged or of a newer version. */
  open: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(120) }))
    .output(z.void()),
  /** Ends playback and returns to the source. */
  leave: oc.output(z.void()),
  note: oc
    .errors(errors)
    .input(z.object({ atMs: z.number(), text: z.string().min(1).max(2000) }))
    .output(z.void()),
  /** Retention of a tier; older samples are deleted at once. */
  setKeep: oc
    .errors(errors)
    .input(z.object({ tier: tierId, keepMs: z.number().positive() }))
    .output(z.void()),
  setQuota: oc
    .errors(errors)
    .input(z.object({ bytes: z.number().int().positive() }))
    .output(z.void()),
  /** Records a range to a file, which opens on any console. */
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
