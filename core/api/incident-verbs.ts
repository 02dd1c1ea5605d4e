/** Verbs of incidents. They neither read nor write servers; they write only on this machine. */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import {
  alertRule,
  alertRuleView,
  cellInput,
  exportEvent,
  exportInput,
  exportPreview,
  incidentId,
  incidentStatus,
  verdictOfBundle,
} from './incidents.ts'
import { span } from './history.ts'
import { errors } from './parts.ts'

const id = z.object({ id: incidentId })
const bundle = z.object({ name: z.string().min(1).max(160) })
/** Most base64 characters of one part of a file. */
const PART_CHARS = 700_000

export const incidentVerbs = {
  /** Creates a notebook prefilled from the cursor time; with a note as its first cell. */
  create: oc
    .errors(errors)
    .input(
      z.object({
        /** Cursor; null: the newest sample. */
        atMs: z.number().nullable(),
        /** null: ten minutes around the cursor, as far as they are over. */
        span: span.nullable(),
        /** Range compared with the span for movers; by default the time before the cursor. */
        against: span.optional(),
        title: z.string().max(200).default(''),
        note: z.string().max(20_000).default(''),
      }),
    )
    .output(id),
  /** Changes the given fields only. */
  change: oc
    .errors(errors)
    .input(
      id.extend({
        title: z.string().min(1).max(200).optional(),
        status: incidentStatus.optional(),
        span: span.optional(),
      }),
    )
    .output(z.void()),
  remove: oc.errors(errors).input(id).output(z.void()),
  /** Undoes the last removal. */
  restore: oc.errors(errors).input(id).output(z.void()),
  /** Adds a cell at the end, or after another one. */
  addCell: oc
    .errors(errors)
    .input(
      id.extend({ atMs: z.number().nullable(), cell: cellInput, behind: z.string().max(32).nullable().default(null) }),
    )
    .output(z.object({ cell: z.string() })),
  /** Sets the text of a note. */
  editCell: oc
    .errors(errors)
    .input(id.extend({ cell: z.string().max(32), text: z.string().max(20_000) }))
    .output(z.void()),
  moveCell: oc
    .errors(errors)
    .input(id.extend({ cell: z.string().max(32), by: z.number().int().min(-200).max(200) }))
    .output(z.void()),
  removeCell: oc
    .errors(errors)
    .input(id.extend({ cell: z.string().max(32) }))
    .output(z.void()),
  /** Restores a removed cell at its position; null: the one removed last. */
  restoreCell: oc
    .errors(errors)
    .input(id.extend({ cell: z.string().max(32).nullable().default(null) }))
    .output(z.void()),
  alertRules: oc.output(z.object({ rules: z.array(alertRuleView) })),
  setAlertRule: oc.errors(errors).input(alertRule).output(z.void()),
  /** Previews the content of a bundle; nothing is written. */
  preview: oc.errors(errors).input(exportInput).output(exportPreview),
  /** Writes a bundle into the bundle folder; closing the stream cancels it. */
  export: oc.errors(errors).input(exportInput).output(eventIterator(exportEvent)),
  markdown: oc
    .errors(errors)
    .input(exportInput)
    .output(z.object({ name: z.string(), text: z.string() })),
  /** The bytes of a bundle, in order. */
  read: oc
    .errors(errors)
    .input(bundle)
    .output(eventIterator(z.object({ base64: z.string().max(PART_CHARS), isLast: z.boolean() }))),
  /** One part of an uploaded bundle; after the last one it is verified and listed. */
  put: oc
    .errors(errors)
    .input(
      bundle.extend({
        upload: z.string().min(8).max(64),
        at: z.number().int().nonnegative(),
        base64: z.string().max(PART_CHARS),
        isLast: z.boolean(),
      }),
    )
    .output(z.void()),
  verify: oc.errors(errors).input(bundle).output(verdictOfBundle),
  /** Opens a bundle as a recorded source. */
  open: oc.errors(errors).input(bundle).output(z.void()),
  removeBundle: oc.errors(errors).input(bundle).output(z.void()),
}
