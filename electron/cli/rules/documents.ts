/**
 * Plans and changes as they are kept between two commands: what was staged and what the servers were then, and what takes a change
 * back. They are read with a schema: the file is shared with other processes, and other releases.
 */
import * as z from 'zod'
import { EXPIRY_MAX_S, changeTerms, nodeEnd, ruleForm, service } from '#core/api/rule-edits.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { profile } from '#core/lustre/profile.ts'
import { RELEASES } from '#core/lustre/release.ts'
import type { DeskPlan } from '../../host/rules/desk-plan.ts'
import type { PlanToCompare } from '../../host/rules/kept-plans.ts'
import type { PastChange } from '../../host/rules/past-change.ts'
import type { StagedChange } from '../../host/rules/staged-changes.ts'

const queue = z.enum(['reg', 'hp'])
const queues = z.enum(['reg', 'hp', 'both'])
const edit = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('start'),
    ...{ name: z.string(), conditions: z.string(), rate: z.number(), queue: queues },
    ...{ rank: z.string().optional(), realtime: z.boolean().optional() },
  }),
  z.object({
    verb: z.literal('change'),
    ...{ name: z.string(), queue: queues, rate: z.number().optional(), rank: z.string().optional() },
  }),
  z.object({ verb: z.literal('stop'), name: z.string(), queue: queues }),
])

/** From the shell a rule may stand for less than the window offers. */
const terms = changeTerms.extend({ expiresS: z.number().int().min(1).max(EXPIRY_MAX_S).nullable() })
const staged = z.object({
  ...{ id: z.string(), service, edit, form: ruleForm, terms, stagedMs: z.number() },
  hosts: z.array(z.string()).optional(),
  undoes: z.string().optional(),
})

const server = z.object({
  server: z.string(),
  rules: z.array(
    z.object({
      ...{ queue, cpt: z.number(), name: z.string(), conditions: z.string(), rate: z.number(), ref: z.number() },
    }),
  ),
  tbf: z.object({ reg: z.string().optional(), hp: z.string().optional() }),
  ...{ release: z.enum(RELEASES), cpts: z.number(), hp: z.boolean() },
  /** As the server named it. */
  version: z.string(),
})

const planDocument = z.object({ service, typed: z.string(), staged: z.array(staged), servers: z.array(server) })
export type PlanDocument = z.infer<typeof planDocument>

export const planDocumentOf = (service: PlanDocument['service'], typed: string, plan: DeskPlan): unknown => ({
  ...{ service, typed, staged: plan.staged },
  servers: plan.changes.map(({ found, version }) => ({
    ...{ server: found.server, rules: found.rules, tbf: found.tbf, release: found.profile.release },
    ...{ cpts: found.cpts, hp: found.hp, version },
  })),
})

/** undefined for one of another form. */
export const readPlanDocument = (value: unknown): PlanDocument | undefined => planDocument.safeParse(value).data

/** What was staged, as it was. */
export const stagedOf = ({ staged: list }: Pick<PlanDocument, 'staged'>): StagedChange[] =>
  list.map((s) => ({ ...s, hosts: s.hosts, undoes: s.undoes, tries: 0, doneOn: [] }))

/** The plan as far as it takes to say what is different now. */
export const toCompare = (d: PlanDocument): PlanToCompare => ({
  staged: stagedOf(d),
  changes: d.servers.map(({ release, version, tbf, ...s }) => {
    const found: ServerRules = {
      ...s,
      rules: s.rules,
      tbf: { reg: tbf.reg, hp: tbf.hp },
      profile: profile(release),
    }
    return { plan: { server: s.server }, found, version }
  }),
})

const changeDocument = z.object({
  ...{ service, title: z.string(), reason: z.string(), planId: z.string(), nodes: z.array(nodeEnd) },
  expiresMs: z.number().nullable(),
  /** What takes it back, by server on which it was done. */
  done: z.array(
    z.tuple([
      z.string(),
      z.object({
        edits: z.array(edit),
        expiries: z.array(z.object({ queue, name: z.string(), atMs: z.number() })),
      }),
    ]),
  ),
})
export type ChangeDocument = z.infer<typeof changeDocument>

export const changeDocumentOf = (past: PastChange, planId: string): unknown => ({
  ...{ service: past.service, title: past.title, reason: past.reason, planId },
  ...{ nodes: past.nodes, expiresMs: past.expiresMs, done: [...past.done] },
})

export const readChangeDocument = (value: unknown): ChangeDocument | undefined => changeDocument.safeParse(value).data
