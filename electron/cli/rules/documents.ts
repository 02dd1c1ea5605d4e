/**
 * Plans and changes as stored between two commands: staged edits with the state of the servers, and the edits that revert a
 * change. Validated with a schema, because the file is shared with other processes and other releases.
 */
import * as z from 'zod'
import { ruleLine, service, stagedRecord } from '#core/api/rule-edits.ts'
import { profile } from '#core/lustre/profile.ts'
import { RELEASES } from '#core/lustre/release.ts'
import type { RulePlan } from '../../host/rules/rule-plan.ts'
import type { PlanToCompare, ServerThen } from '../../host/rules/shown-plans.ts'
import type { StagedChange } from '../../host/rules/staged-changes.ts'

/** State of a server at the time of the plan. */
export const server = z.object({
  server: z.string(),
  rules: z.array(ruleLine),
  tbf: z.object({ reg: z.string().optional(), hp: z.string().optional() }),
  release: z.enum(RELEASES),
  cpts: z.number(),
  hp: z.boolean(),
  /** Version as the server reports it. */
  version: z.string(),
})

const planDocument = z.object({ service, typed: z.string(), staged: z.array(stagedRecord), servers: z.array(server) })
export type PlanDocument = z.infer<typeof planDocument>

export const planDocumentOf = (service: PlanDocument['service'], typed: string, plan: RulePlan): unknown => ({
  service,
  typed,
  staged: plan.staged,
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

/** Parses a stored plan; undefined for any other document. */
export const readPlanDocument = (value: unknown): PlanDocument | undefined => planDocument.safeParse(value).data

/** Restores the staged changes. */
export const stagedOf = ({ staged: list }: Pick<PlanDocument, 'staged'>): StagedChange[] =>
  list.map((s) => ({ ...s, hosts: s.hosts, undoes: s.undoes }))

/** Parts of the plan that are needed to describe differences. */
export const toCompare = (d: PlanDocument): PlanToCompare => ({
  staged: stagedOf(d),
  changes: d.servers.map(serverThen),
})

/** Restores the state of a server at the time of the plan. */
export function serverThen({ release, version, tbf, ...s }: z.infer<typeof server>): ServerThen {
  return { found: { ...s, tbf: { reg: tbf.reg, hp: tbf.hp }, profile: profile(release) }, version }
}
