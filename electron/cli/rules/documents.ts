/**
 * Plans and changes as they are kept between two commands: what was staged and what the servers were then, and what takes a change
 * back. They are read with a schema: the file is shared with other processes, and other releases.
 */
import * as z from 'zod'
import { ruleLine, service, stagedRecord } from '#core/api/rule-edits.ts'
import { profile } from '#core/lustre/profile.ts'
import { RELEASES } from '#core/lustre/release.ts'
import type { RulePlan } from '../../host/rules/rule-plan.ts'
import type { PlanToCompare, ServerThen } from '../../host/rules/kept-plans.ts'
import type { StagedChange } from '../../host/rules/staged-changes.ts'

/** A server as a plan finds it. */
export const server = z.object({
  server: z.string(),
  rules: z.array(ruleLine),
  tbf: z.object({ reg: z.string().optional(), hp: z.string().optional() }),
  ...{ release: z.enum(RELEASES), cpts: z.number(), hp: z.boolean() },
  /** As the server named it. */
  version: z.string(),
})

const planDocument = z.object({ service, typed: z.string(), staged: z.array(stagedRecord), servers: z.array(server) })
export type PlanDocument = z.infer<typeof planDocument>

export const planDocumentOf = (service: PlanDocument['service'], typed: string, plan: RulePlan): unknown => ({
  ...{ service, typed, staged: plan.staged },
  servers: plan.changes.map(serverDocument),
})

export const serverDocument = ({ found, version }: ServerThen): z.infer<typeof server> => ({
  server: found.server,
  rules: [...found.rules],
  tbf: found.tbf,
  release: found.profile.release,
  cpts: found.cpts,
  hp: found.hp,
  version,
})

/** undefined for one of another form. */
export const readPlanDocument = (value: unknown): PlanDocument | undefined => planDocument.safeParse(value).data

/** What was staged, as it was. */
export const stagedOf = ({ staged: list }: Pick<PlanDocument, 'staged'>): StagedChange[] =>
  list.map((s) => ({ ...s, hosts: s.hosts, undoes: s.undoes }))

/** The plan as far as it takes to say what is different now. */
export const toCompare = (d: PlanDocument): PlanToCompare => ({
  staged: stagedOf(d),
  changes: d.servers.map(serverThen),
})

/** A server as the plan found it. */
export function serverThen({ release, version, tbf, ...s }: z.infer<typeof server>): ServerThen {
  return { found: { ...s, tbf: { reg: tbf.reg, hp: tbf.hp }, profile: profile(release) }, version }
}
