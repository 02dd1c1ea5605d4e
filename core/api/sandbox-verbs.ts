/** Verbs of the sandbox. They neither read nor write servers; `stage` only stages, for the same review as every other change. */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import { span } from './history.ts'
import { errors } from './parts.ts'
import {
  calibrateEvent,
  completion,
  exported,
  exportInput,
  forked,
  forkInput,
  galleryEntry,
  runEvent,
  runInput,
  scenarioCheck,
  TEXT_MAX,
  variant,
} from './sandbox.ts'

export const sandboxVerbs = {
  gallery: oc.output(z.object({ entries: z.array(galleryEntry) })),
  /** Reads the text of a gallery entry, and checks it. */
  open: oc
    .errors(errors)
    .input(z.object({ id: z.string().max(200) }))
    .output(z.object({ text: z.string(), check: scenarioCheck })),
  check: oc.input(z.object({ text: z.string().max(TEXT_MAX) })).output(scenarioCheck),
  /** Removes the named jobs from a scenario, because their inputs are outside the model. */
  leaveOut: oc
    .errors(errors)
    .input(z.object({ text: z.string().max(TEXT_MAX), jobIds: z.array(z.string().max(1024)).min(1).max(1000) }))
    .output(z.object({ text: z.string(), check: scenarioCheck })),
  complete: oc
    .input(z.object({ text: z.string().max(TEXT_MAX), line: z.number().int(), column: z.number().int() }))
    .output(completion),
  /** Creates a scenario from the active source. Refused if it has no jobs. */
  fork: oc.errors(errors).input(forkInput).output(forked),
  /** One run at a time per host; closing the stream cancels it. */
  run: oc.errors(errors).input(runInput).output(eventIterator(runEvent)),
  /** Closing the stream cancels it. */
  calibrate: oc
    .input(forkInput.extend({ span, seeds: z.number().int().min(1).max(50).default(5) }))
    .output(eventIterator(calibrateEvent)),
  /** Stages the rules of a variant, or applies its controller's settings to the cluster, which must not be in enforce mode. */
  stage: oc
    .errors(errors)
    .input(
      z.object({
        variant,
        verdict: z.string().max(500),
        expireMinutes: z.number().min(1).max(1440).default(30),
        /** Id of the result that the variant is from: staging is refused if it was forked from another cluster than the active one. */
        run: z.string().max(64).nullable().default(null),
      }),
    )
    .output(z.object({ staged: z.number().int(), text: z.string() })),
  save: oc
    .errors(errors)
    .input(
      z.object({
        name: z.string().min(1).max(80),
        text: z.string().max(TEXT_MAX),
        replace: z.boolean().default(false),
      }),
    )
    .output(z.object({ id: z.string() })),
  remove: oc
    .errors(errors)
    .input(z.object({ id: z.string().max(200) }))
    .output(z.void()),
  /** Exports a result of the current host session, by its id. */
  export: oc.errors(errors).input(exportInput).output(exported),
}
