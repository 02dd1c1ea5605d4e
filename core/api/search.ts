/** Search over all named objects: active ones, ended ones in the history, and objects stored by the console. */
import { oc } from '@orpc/contract'
import * as z from 'zod'
import { colorIndex } from './parts.ts'
import { service } from './rule-edits.ts'

const name = z.string().max(512)
const title = z.string().max(512)

/** A search hit. Names are the system's; a window shows them as text. */
export const found = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('job'),
    id: name,
    user: name,
    account: name,
    colour: colorIndex,
    /** RPC/s in the last second; null if not measured, or ended. */
    rpcs: z.number().nullable(),
    /** false: ended, present only in the history. */
    isThere: z.boolean(),
    /** Time when it was first seen, Unix ms. */
    firstMs: z.number(),
  }),
  z.object({
    kind: z.literal('rule'),
    name,
    conditions: title,
    service,
    queue: z.enum(['reg', 'hp']),
    /** Servers with it. */
    servers: z.number().int().nonnegative(),
  }),
  z.object({ kind: z.literal('target'), name, node: name }),
  z.object({ kind: z.literal('node'), name, role: z.string().max(64) }),
  z.object({ kind: z.literal('user'), name, jobs: z.number().int().nonnegative() }),
  z.object({ kind: z.literal('account'), name, jobs: z.number().int().nonnegative() }),
  z.object({ kind: z.literal('incident'), id: z.string().max(32), title, status: z.string().max(32) }),
  /** `via`: the server whose name matched. */
  z.object({ kind: z.literal('cluster'), name, env: z.string().max(16), via: name }),
  z.object({ kind: z.literal('scenario'), id: z.string().max(256), title, own: z.boolean() }),
])
export type Found = z.infer<typeof found>
export type FoundKind = Found['kind']

export const searchVerbs = {
  find: oc
    .input(
      z.object({
        text: z.string().max(200),
        /** Largest number of hits of each kind. */
        limit: z.number().int().min(1).max(50).default(6),
      }),
    )
    .output(
      z.object({
        found: z.array(found),
        /** Number of further hits by kind. */
        more: z.record(z.string(), z.number().int().nonnegative()),
      }),
    ),
}
