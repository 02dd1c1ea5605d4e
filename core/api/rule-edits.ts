/**
 * Rule editing in the contract: checks of drafts, staged changes, and the review of the commands to be sent. Nothing reaches a server
 * before `rules.commit`, which requires the plan id of the review.
 */
import * as z from 'zod'
import { diffLine, expression, ms, notice, streamHead } from './parts.ts'

const count = z.number().int().nonnegative()
const texts = z.array(z.string())

/**
 * Service of the rules: `ost.OSS.ost_io` of the OSSes, `mds.MDS.mdt` of the MDSes, or `mds.MDS.mdt_readpage` beside it, which runs close
 * and readdir.
 */
export const service = z.enum(['ost_io', 'mdt', 'mdt_readpage'])
export type ServiceName = z.infer<typeof service>
export const SERVICE_NAMES = service.options

/** Regular requests, high-priority ones, or both (no selector). */
export const queue = z.enum(['reg', 'hp'])
export const queueChoice = z.enum([...queue.options, 'both'])

/** An NRS policy with its argument: `tbf` and `jobid`. */
export const policyChoice = z.object({ name: z.string(), arg: z.string() })

/** A rule as in the editor's form. Texts are kept as typed, even invalid ones: the check reports errors. */
export const ruleForm = z.object({
  verb: z.enum(['start', 'change', 'stop']),
  name: z.string().max(200),
  /** Conditions as typed, for example `jobid={4690.*}&opcode={ost_write}`; used only by start. */
  conditions: z.string().max(4096),
  /** RPC/s per class as typed; empty = not given. */
  rate: z.string().max(20),
  /** Rule to be placed before; empty = not given. */
  rank: z.string().max(200),
  realtime: z.boolean(),
  queue: queueChoice,
})
export type RuleForm = z.infer<typeof ruleForm>

/** Longest expiry of a rule by a server timer: a week. */
export const EXPIRY_MAX_S = 604_800
/** Terms of a change beside the rule itself. */
export const changeTerms = z.object({
  /** Seconds after which a timer on the server stops a started rule; null = no expiry. */
  expiresS: z.number().int().min(30).max(EXPIRY_MAX_S).nullable(),
  /** True if a change replaces the present expiry of the rule by `expiresS`; a change keeps it otherwise. */
  renews: z.boolean().optional(),
  /** Reason, for the audit. */
  reason: z.string().max(500),
  /** Accepts that this console instead of the server stops the rule, if a server has no timers: only while the console runs. */
  laptopBound: z.boolean().optional(),
})

/** A rule as printed by a server. */
export const ruleLine = z.object({
  queue: z.enum(['reg', 'hp']),
  cpt: z.number(),
  name: z.string(),
  conditions: z.string(),
  rate: z.number(),
  ref: z.number(),
})

/** A change of one rule as it is sent. */
export const ruleEdit = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('start'),
    name: z.string(),
    conditions: z.string(),
    rate: z.number(),
    queue: queueChoice,
    rank: z.string().optional(),
    realtime: z.boolean().optional(),
  }),
  z.object({
    verb: z.literal('change'),
    name: z.string(),
    queue: queueChoice,
    rate: z.number().optional(),
    rank: z.string().optional(),
  }),
  z.object({ verb: z.literal('stop'), name: z.string(), queue: queueChoice }),
])

/** A staged change as stored: in the record of a committed change, and in a plan between two commands. */
export const stagedRecord = z.object({
  id: z.string(),
  service,
  edit: ruleEdit,
  form: ruleForm,
  /** The shell allows shorter expiries than the window offers. */
  terms: changeTerms.extend({ expiresS: z.number().int().min(1).max(EXPIRY_MAX_S).nullable() }),
  stagedMs: z.number(),
  hosts: z.array(z.string()).optional(),
  undoes: z.string().optional(),
  tries: z.number().default(0),
  doneOn: z.array(z.string()).default([]),
})

/** A fault of a draft, with its position in the value's text. */
export const ruleFault = z.object({
  /** Offset and length in `text` of the check's answer. */
  at: count,
  length: count,
  message: z.string(),
  /** Error of a server; null if only Sluice refuses it, because servers mishandle it. */
  errno: z.string().nullable(),
  /** Form field of the fault. */
  field: z.enum(['verb', 'name', 'conditions', 'rate', 'rank', 'realtime', 'queue']),
})
export type RuleFault = z.infer<typeof ruleFault>

export const lint = z.object({
  code: z.string(),
  level: z.enum(['info', 'ok', 'watch', 'bad']),
  /** Rule concerned; empty = the whole list. */
  rule: z.string(),
  text: z.string(),
})
export type Lint = z.infer<typeof lint>

/** A sentence in parts, for highlighting: strong parts are figures with their unit. */
export const sentence = z.array(z.object({ text: z.string(), strong: z.boolean() }))

/** Trial of a draft: the live jobs that it would match. */
export const trial = z.object({
  /** Time of the readings used. */
  atMs: ms.nullable(),
  /** Jobs that would bind, most RPCs first, at most 50; `may` if job_stats lacks a field that the rule matches. */
  jobs: z.array(
    z.object({
      jobId: z.string(),
      how: z.enum(['yes', 'may']),
      rpcs: z.number(),
      /** Rules that it matches now, `default` included, separated by commas. */
      before: z.string(),
      /** The rate that it can reach relative to `rpcs`, less 1: -1..; null if nothing limits it, or it is idle. */
      change: z.number().nullable(),
    }),
  ),
  /** All of them, those that only may match included. */
  jobCount: count,
  mayCount: count,
  /** Jobs that get another rule or rate although the draft does not match them. */
  otherCount: count,
  /** Classes that these jobs make: jobs x CPTs x queues x servers. */
  classes: count,
  targets: count,
  servers: count,
  /** Mean RPC/s of the jobs over the last minutes, and at most after the change (null = no limit). */
  rpcsNow: z.number(),
  rpcsAfter: z.number().nullable(),
})
export type Trial = z.infer<typeof trial>

/** Check result of a draft, the same for a text and for a form. */
export const ruleCheck = z.object({
  /** The value to be written, for example `reg start a jobid={x} rate=5`; as typed if it cannot be parsed. */
  text: z.string(),
  /** Parameter to be written. */
  parameter: z.string(),
  form: ruleForm,
  expressions: z.array(expression),
  faults: z.array(ruleFault),
  /** Interpretation of a pasted line, and its conversion to current syntax. */
  notes: texts,
  lints: z.array(lint),
  ceiling: sentence,
  /** null while the draft has a fault, or stops a rule. */
  trial: trial.nullable(),
})
export type RuleCheck = z.infer<typeof ruleCheck>

export const checkInput = z.object({
  service,
  /** The side edited last: the text (a value, or any pasted lctl line), or the form. */
  draft: z.union([
    z.object({ text: z.string().max(8192) }),
    /** `renews`: see the terms of a change. It then needs neither a rate nor a position. */
    z.object({ form: ruleForm, renews: z.boolean().optional() }),
  ]),
})

/** End state of one server after a commit. */
export const nodeEnd = z.object({
  host: z.string(),
  /** pending: the server does not answer; the rollback is sent when it does. */
  state: z.enum(['done', 'failed', 'rolled back', 'unknown', 'not sent', 'pending']),
  detail: z.string(),
  /** Server units that will stop the new rules; absent if none was created. */
  timer: z.string().optional(),
  /** Time from its first reading to its last answer, without the canary watch time, ms; absent if nothing was sent. */
  tookMs: z.number().optional(),
})
export type NodeEnd = z.infer<typeof nodeEnd>

/** Result of the global stop. */
export const stopResult = z.object({
  removed: z.number().int(),
  nodes: z.array(nodeEnd),
  /** stopped: read back clean on every server, later than a period. uncertain: the servers' ends have the reason. */
  state: z.enum(['stopped', 'uncertain']),
  /** Consoles with other data folders that had leases on the servers: removed too, and they may write again. */
  others: z.array(z.object({ host: z.string(), console: z.string(), lease: z.string() })),
})
export type StopResult = z.infer<typeof stopResult>

/** Progress of a commit. */
export const commitProgress = z.object({
  planId: z.string(),
  isOver: z.boolean(),
  isCancelled: z.boolean(),
  nodes: z.array(
    z.object({
      host: z.string(),
      state: z.enum([
        'waiting',
        'reading',
        'timer',
        'sending',
        'waiting for',
        'reading back',
        'watching',
        'rolling back',
        ...nodeEnd.shape.state.options,
      ] as const),
      /** Rule commands sent, of all. */
      done: count,
      of: count,
      detail: z.string(),
    }),
  ),
  /** Canary watch; null outside it. */
  watch: z
    .object({
      host: z.string(),
      leftS: z.number(),
      ofS: z.number(),
      says: z.array(z.object({ level: z.enum(['ok', 'watch', 'bad']), text: z.string() })),
    })
    .nullable(),
})
export type CommitProgress = z.infer<typeof commitProgress>

const stagedItem = z.object({
  id: z.string(),
  verb: z.enum(['start', 'change', 'stop']),
  kind: z.enum(['add', 'mod', 'del']),
  rule: z.string(),
  form: ruleForm,
  expiresS: z.number().nullable(),
  renews: z.boolean().optional(),
  reason: z.string(),
  stagedMs: ms,
  servers: count,
  diff: z.array(diffLine),
  /** Commands for the first server, timer included. */
  commands: texts,
})

/** Review of one node. */
const reviewNode = z.object({
  host: z.string(),
  commands: texts,
  inverse: texts,
  /** Servers with the same commands. */
  alike: texts,
})

export const review = z.object({
  /** Identifies exactly these commands on these servers. */
  planId: z.string(),
  nodes: z.array(reviewNode),
  /** Rules of the first server after the commit, in match order; removed and old lines stay in place. */
  list: z.array(
    z.object({ kind: z.enum(['', 'add', 'mod', 'del']), rank: count.nullable(), name: z.string(), text: z.string() }),
  ),
  /** Further lines of the list. */
  more: count,
  trial: trial.nullable(),
  servers: count,
  serversTotal: count,
  /** Initial burst of the changes, tokens, because a changed class starts full. */
  refillTokens: z.number(),
  /** Text that the operator types to commit. */
  typed: z.string(),
  /** Time until the first timer stops a rule, if committed now; null without one. */
  expiresS: z.number().nullable(),
  /** Owner of the timers: servers, or this console if a server has none. */
  timers: z.enum(['server', 'laptop']),
  /** Canary watch: time before the remaining servers get the same, s. */
  canaryS: z.number(),
  /** Servers that do not answer; a rollback is sent when they do. */
  pending: texts,
  /** Reason why it cannot be committed now. */
  refused: notice.nullable(),
})
export type Review = z.infer<typeof review>

/** A committed change, newest first; its inverse can be staged. */
const pastChange = z.object({
  id: z.string(),
  atMs: ms,
  title: z.string(),
  reason: z.string(),
  nodes: z.array(nodeEnd),
  inverse: texts,
  expiresMs: ms.nullable(),
  undone: z.boolean(),
  /** Set if a revert would change something; its rules may have expired or been stopped. */
  revertible: z.boolean(),
  /** Servers with a pending rollback, and the reason. */
  pending: z.array(z.object({ host: z.string(), why: z.string() })),
})
export type PastChange = z.infer<typeof pastChange>

/**
 * State of the rule changes of one service: edited, reviewed, being committed, or the result of the latest commit until the next change
 * is staged.
 */
export const ruleState = z.object({
  phase: z.enum(['editing', 'reviewed', 'committing', 'done', 'partial', 'rolled back', 'unknown']),
  /** Servers of the commit. */
  servers: texts,
})
export type RuleState = z.infer<typeof ruleState>

export const stagedFrame = z.object({
  ...streamHead,
  service,
  state: ruleState,
  items: z.array(stagedItem),
  inverse: texts,
  lints: z.array(lint),
  /** null while nothing is staged. */
  review: review.nullable(),
  changes: z.array(pastChange),
  /** The staged policy change, which excludes staged rules; null for none. */
  policy: z
    .object({
      id: z.string(),
      /** `tbf jobid`, and the running policy. */
      to: z.string(),
      from: z.string(),
      reason: z.string(),
      /** Rules of the first server that are removed with the policy. */
      lost: texts,
      /** Longest time until TBF is empty on any server, s; 0 if nothing is queued. */
      drainS: z.number(),
    })
    .nullable(),
  /** The current or latest commit. */
  commit: commitProgress.nullable(),
  /** Differences since the requested plan was shown; empty while it is still valid. */
  since: texts,
})
export type StagedFrame = z.infer<typeof stagedFrame>
