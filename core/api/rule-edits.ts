/**
 * Rules as an operator edits them: what the editor asks the host about a draft, the staged changes, and the review of what
 * would be sent. Nothing here reaches a server before `rules.commit`, and that only with the review's own plan id.
 */
import * as z from 'zod'
import { diffLine, expression, ms, notice, streamHead } from './parts.ts'

const count = z.number().int().nonnegative()
const texts = z.array(z.string())

/**
 * The service whose rules are meant: `ost.OSS.ost_io` of the OSSes, `mds.MDS.mdt` of the MDSes, or `mds.MDS.mdt_readpage`
 * beside it, where close and readdir run.
 */
export const service = z.enum(['ost_io', 'mdt', 'mdt_readpage'])
export type ServiceName = z.infer<typeof service>
export const SERVICE_NAMES = service.options

/** Regular requests, high-priority ones, or both (no selector). */
export const queue = z.enum(['reg', 'hp'])
export const queueChoice = z.enum([...queue.options, 'both'])

/** An NRS policy with its argument: `tbf` and `jobid`. */
export const policyChoice = z.object({ name: z.string(), arg: z.string() })

/** A rule as the editor's form holds it. Texts are kept as typed, also wrong ones: the check says what is wrong. */
export const ruleForm = z.object({
  verb: z.enum(['start', 'change', 'stop']),
  name: z.string().max(200),
  /** Conditions as typed, for example `jobid={4690.*}&opcode={ost_write}`; unused but by start. */
  conditions: z.string().max(4096),
  /** RPC/s per class as typed; empty = not given. */
  rate: z.string().max(20),
  /** Rule to stand right before; empty = not given. */
  rank: z.string().max(200),
  realtime: z.boolean(),
  queue: queueChoice,
})
export type RuleForm = z.infer<typeof ruleForm>

/** Longest time that a rule may stand by its server timer: a week. */
export const EXPIRY_MAX_S = 604_800
/** What a change needs beside the rule itself. */
export const changeTerms = z.object({
  /** Seconds after which a timer on the server stops a started rule; null = stays until it is stopped. */
  expiresS: z.number().int().min(30).max(EXPIRY_MAX_S).nullable(),
  /** Why, for whoever reads the audit. */
  reason: z.string().max(500),
  /** Accepts that this console, not the server, stops the rule, where a server keeps no timers: only while it runs. */
  laptopBound: z.boolean().optional(),
})

/** A rule as a server printed it. */
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

/** A staged change as it is kept: in the record of a change that was committed, and in a plan between two commands. */
export const stagedRecord = z.object({
  id: z.string(),
  service,
  edit: ruleEdit,
  form: ruleForm,
  /** From the shell a rule may stand for less than the window offers. */
  terms: changeTerms.extend({ expiresS: z.number().int().min(1).max(EXPIRY_MAX_S).nullable() }),
  stagedMs: z.number(),
  hosts: z.array(z.string()).optional(),
  undoes: z.string().optional(),
  tries: z.number().default(0),
  doneOn: z.array(z.string()).default([]),
})

/** One fault of a draft, with its place in the text of the value. */
export const ruleFault = z.object({
  /** Offset and length in `text` of the check's answer. */
  at: count,
  length: count,
  message: z.string(),
  /** What a server answers; null where only Sluice refuses it, because servers mishandle it. */
  errno: z.string().nullable(),
  /** Field of the form that it lies in. */
  field: z.enum(['verb', 'name', 'conditions', 'rate', 'rank', 'realtime', 'queue']),
})
export type RuleFault = z.infer<typeof ruleFault>

export const lint = z.object({
  code: z.string(),
  level: z.enum(['info', 'ok', 'watch', 'bad']),
  /** Rule it is about; empty = the list as a whole. */
  rule: z.string(),
  text: z.string(),
})
export type Lint = z.infer<typeof lint>

/** A sentence in parts, so that figures can be set off: strong parts are figures with their unit. */
export const sentence = z.array(z.object({ text: z.string(), strong: z.boolean() }))

/** Which live jobs would come under the draft. */
export const trial = z.object({
  /** Instant of the readings it was tried against. */
  atMs: ms.nullable(),
  /** Jobs that would bind, most RPCs first, at most 50; `may` where job_stats does not tell all that the rule asks. */
  jobs: z.array(
    z.object({
      jobId: z.string(),
      how: z.enum(['yes', 'may']),
      rpcs: z.number(),
      /** Rule it falls under now; `default` for none. */
      before: z.string(),
      /** Change of what it can reach against what it does now, -1..; null where nothing limits it. */
      change: z.number().nullable(),
    }),
  ),
  jobCount: count,
  mayCount: count,
  /** Jobs whose rule or rate becomes another one although the draft does not cover them. */
  otherCount: count,
  /** Classes that these jobs make: jobs x CPTs x queues x servers. */
  classes: count,
  targets: count,
  servers: count,
  /** RPC/s of the jobs now, and at most after the change (null = no limit). */
  rpcsNow: z.number(),
  rpcsAfter: z.number().nullable(),
})
export type Trial = z.infer<typeof trial>

/** What the host says of a draft, the same for a text and for a form. */
export const ruleCheck = z.object({
  /** The value that is written, for example `reg start a jobid={x} rate=5`; as typed where it cannot be read. */
  text: z.string(),
  /** The parameter it is written to. */
  parameter: z.string(),
  form: ruleForm,
  expressions: z.array(expression),
  faults: z.array(ruleFault),
  /** What a pasted line meant and how it was modernised. */
  notes: texts,
  lints: z.array(lint),
  ceiling: sentence,
  /** null while the draft has a fault, or stops a rule. */
  trial: trial.nullable(),
})
export type RuleCheck = z.infer<typeof ruleCheck>

export const checkInput = z.object({
  service,
  /** The side that was edited last: the text (a value, or any pasted lctl line), or the form. */
  draft: z.union([z.object({ text: z.string().max(8192) }), z.object({ form: ruleForm })]),
})

/** End state of one server after a commit. */
export const nodeEnd = z.object({
  host: z.string(),
  /** pending: the server does not answer; what undoes is sent when it does. */
  state: z.enum(['done', 'failed', 'rolled back', 'unknown', 'not sent', 'pending']),
  detail: z.string(),
  /** Units of the server that will stop what was set there; absent where none was made. */
  timer: z.string().optional(),
  /** From its first reading to its last answer, without the time in which it was only watched, ms; absent where nothing was sent. */
  tookMs: z.number().optional(),
})
export type NodeEnd = z.infer<typeof nodeEnd>

/** Result of the global stop. */
export const stopResult = z.object({
  removed: z.number().int(),
  nodes: z.array(nodeEnd),
  /** stopped: read back clean on every server, later than a period. uncertain: the ends of the servers say why. */
  state: z.enum(['stopped', 'uncertain']),
  /** Consoles of other data folders that had leases on the servers: removed too, and they may write again. */
  others: z.array(z.object({ host: z.string(), console: z.string(), lease: z.string() })),
})
export type StopResult = z.infer<typeof stopResult>

/** A commit while it is sent. */
export const commitProgress = z.object({
  planId: z.string(),
  isOver: z.boolean(),
  isCancelled: z.boolean(),
  nodes: z.array(
    z.object({
      host: z.string(),
      state: z.enum([
        ...['waiting', 'reading', 'timer', 'sending', 'waiting for', 'reading back', 'watching', 'rolling back'],
        ...nodeEnd.shape.state.options,
      ] as const),
      /** Commands of rules that were sent, of all. */
      done: count,
      of: count,
      detail: z.string(),
    }),
  ),
  /** The watch over the first server; null outside it. */
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
  reason: z.string(),
  stagedMs: ms,
  servers: count,
  diff: z.array(diffLine),
  /** As sent to the first server, timer included. */
  commands: texts,
})

/** One node's part of the review. */
const reviewNode = z.object({
  host: z.string(),
  commands: texts,
  inverse: texts,
  /** Servers whose commands are the same as this one's. */
  alike: texts,
})

export const review = z.object({
  /** Names exactly these commands on these servers. */
  planId: z.string(),
  nodes: z.array(reviewNode),
  /** Rules of the first server after the commit, in match order; removed and old lines stand where they were. */
  list: z.array(
    z.object({ kind: z.enum(['', 'add', 'mod', 'del']), rank: count.nullable(), name: z.string(), text: z.string() }),
  ),
  /** Lines of the list beyond those here. */
  more: count,
  trial: trial.nullable(),
  servers: count,
  serversTotal: count,
  /** Tokens that the changes hand out at once, because a changed class starts full. */
  refillTokens: z.number(),
  /** What the operator types to commit. */
  typed: z.string(),
  /** When the first timer stops a rule, if committed now; null without one. */
  expiresS: z.number().nullable(),
  /** Who keeps the time of the timers: servers, or where one cannot, this console. */
  timers: z.enum(['server', 'laptop']),
  /** How long the first server is watched before the rest get the same, s. */
  canaryS: z.number(),
  /** Servers that do not answer, to which an undoing is sent when they do. */
  pending: texts,
  /** Why it cannot be committed now. */
  refused: notice.nullable(),
})
export type Review = z.infer<typeof review>

/** A change that was committed, newest first; its inverse can be staged. */
const pastChange = z.object({
  id: z.string(),
  atMs: ms,
  title: z.string(),
  reason: z.string(),
  nodes: z.array(nodeEnd),
  inverse: texts,
  expiresMs: ms.nullable(),
  undone: z.boolean(),
  /** Servers that its undoing still waits for, and why it does. */
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
  /** The staged change of policy, beside which no rule is staged; null for none. */
  policy: z
    .object({
      id: z.string(),
      /** `tbf jobid`, and what runs now. */
      to: z.string(),
      from: z.string(),
      reason: z.string(),
      /** Rules of the first server that go with the policy. */
      lost: texts,
      /** Longest time until TBF is empty on any server, s; 0 where nothing waits. */
      drainS: z.number(),
    })
    .nullable(),
  /** The commit that is sent now, or was sent last. */
  commit: commitProgress.nullable(),
  /** What is different since the plan named in the request was shown; empty while it still is the plan. */
  since: texts,
})
export type StagedFrame = z.infer<typeof stagedFrame>
