/** What belongs to the selection of the window: one thing is chosen, and every view marks what hangs together with it. */
import * as z from 'zod'
import { streamHead as head } from './parts.ts'

const texts = z.array(z.string())

/** What can be chosen: target = OST or MDT, node = server, client = client of a data node, resource = what locks are on. */
export const linkedKind = z.enum(['job', 'target', 'rule', 'user', 'node', 'client', 'resource'])
export type LinkedKind = z.infer<typeof linkedKind>

export const linkedQuery = { kind: linkedKind, id: z.string().min(1).max(300) }

/** Names of each kind, the chosen one among them; at most `LINKED_MAX` a kind. */
export const LINKED_MAX = 500
export const linkedFrame = z.object({
  ...head,
  kind: linkedKind,
  id: z.string(),
  /** Whether what is chosen is there at this sample. */
  isHere: z.boolean(),
  job: texts,
  target: texts,
  rule: texts,
  user: texts,
  node: texts,
  client: texts,
  resource: texts,
  /** Jobs there are in all, where that is more than are named. */
  jobs: z.number().int().nonnegative(),
})
export type LinkedFrame = z.infer<typeof linkedFrame>
