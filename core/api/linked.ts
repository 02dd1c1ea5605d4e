/** Objects related to the selection of a window: one is selected, and every view highlights the related ones. */
import * as z from 'zod'
import { streamHead as head } from './parts.ts'

const texts = z.array(z.string())

/** Kinds of selection: target = OST or MDT, node = server, client = client of a data node, resource = object of locks. */
export const linkedKind = z.enum(['job', 'target', 'rule', 'user', 'node', 'client', 'resource'])
export type LinkedKind = z.infer<typeof linkedKind>

export const linkedQuery = { kind: linkedKind, id: z.string().min(1).max(300) }

/** Most names of one kind, including the selected one. */
export const LINKED_MAX = 500
export const linkedFrame = z.object({
  ...head,
  kind: linkedKind,
  id: z.string(),
  /** True if the selected object is present at this sample. */
  isHere: z.boolean(),
  job: texts,
  target: texts,
  rule: texts,
  user: texts,
  node: texts,
  client: texts,
  resource: texts,
  /** Total number of jobs; they may be more than listed. */
  jobs: z.number().int().nonnegative(),
})
export type LinkedFrame = z.infer<typeof linkedFrame>
