/**
 * Contract between the host and its windows: verbs are purposes, never capabilities. The same router is served over Electron's
 * MessagePort, over a WebSocket and in process.
 *
 * Streams are view queries: the window sends its query, the host sends exactly that data, at most `hz` frames a second. A window
 * acknowledges every frame by `host.ack`; while two frames of a stream are unacknowledged the host waits and then sends the newest, so a
 * slow window never has a backlog.
 */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import { adaptbfChange } from './adaptbf.ts'
import {
  checkEvent,
  clusterInput,
  clusterName,
  connectionsFrame,
  maxRateChange,
  probeId,
  safeMode,
  serverInput,
  sshAliases,
} from './clusters.ts'
import {
  controllerName,
  jobColumn,
  jobFrame,
  jobGroupBy,
  jobsFrame,
  mode,
  overviewFrame,
  rulesFrame,
  statusFrame,
  stripFrame,
} from './frames.ts'
import { csvPart, csvQuery, historyFrame, historyQuery, span, tierId } from './history.ts'
import { linkedFrame, linkedQuery } from './linked.ts'
import { incidentVerbs } from './incident-verbs.ts'
import { incidentsFrame, incidentsQuery } from './incidents.ts'
import { lockManager, locksCompare, locksFrame, locksPlane, locksSort, lanesRange } from './locks.ts'
import { machineVerbs } from './machine.ts'
import { metadataFrame, padllChange, padllPlane, policiesCheck, policiesInput } from './padll.ts'
import { errors } from './parts.ts'
import { papersEvent, papersList, papersRunInput } from './papers.ts'
import {
  changeTerms,
  checkInput,
  nodeEnd,
  ruleCheck,
  ruleForm,
  service,
  stagedFrame,
  stopResult,
} from './rule-edits.ts'
import { serverFrame, serverPlace } from './server-frame.ts'
import { sandboxVerbs } from './sandbox-verbs.ts'
import { searchVerbs } from './search.ts'
import { shellVerbs } from './shell.ts'
import { tokensAdmission, tokensChange, tokensFrame, tokensReserve, tokensSpan } from './tokens.ts'

/** Input of every stream. */
const stream = z.object({
  /** Chosen by the window, unique in its connection; used again in `host.ack`. */
  stream: z.string().min(1).max(64),
  /** Most frames per second, 0.1 to 10. */
  hz: z.number().min(0.1).max(10).default(5),
  /** Sample to show; null = follow the newest. */
  at: z.number().int().nonnegative().nullable().default(null),
  /** True to receive also the frames of adjacent samples while the window shows a fixed sample, so that the next step is instant. */
  ahead: z.boolean().default(false),
})
/** Width of the window [t - w, t] in ms: 10 s to a day. */
const windowMs = z.number().min(10_000).max(86_400_000).default(300_000)
/** Time of A while two times are compared: the frame then also contains the values at A. */
const againstMs = z.number().nullable().default(null)
/** Filter of a table, in the grammar of the jobs table; an invalid one hides nothing. */
const filter = z.string().max(500).default('')
/** Target whose records are shown; empty = all. */
const target = z.string().max(128).default('')

/** Verbs of time travel. They neither read nor write servers. */
const historyVerbs = {
  /**
   * Moves to the sample nearest to a time: in the memory of the source, or else in the store on disk, which is then shown in its place.
   * Refused if there is no data.
   */
  goTo: oc
    .errors(errors)
    .input(z.object({ atMs: z.number() }))
    .output(
      z.object({
        sample: z.number().int().nonnegative(),
        atMs: z.number(),
        recorded: z.boolean(),
        /** Generation of the sample numbering; frames of another generation belong to another source or playback. */
        turn: z.number().int().nonnegative().optional(),
      }),
    ),
  /** Next or previous event relative to a time; null if there is none. */
  event: oc
    .input(z.object({ atMs: z.number(), direction: z.enum(['next', 'previous']) }))
    .output(z.object({ atMs: z.number().nullable() })),
  /** Opens a recording. Refused if it is damaged or of a newer version. */
  open: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(120) }))
    .output(z.void()),
  /** Ends playback and returns to the source. */
  leave: oc.output(z.void()),
  note: oc
    .errors(errors)
    .input(z.object({ atMs: z.number(), text: z.string().min(1).max(2000) }))
    .output(z.void()),
  /** Retention of a tier; older samples are deleted at once. */
  setKeep: oc
    .errors(errors)
    .input(z.object({ tier: tierId, keepMs: z.number().positive() }))
    .output(z.void()),
  setQuota: oc
    .errors(errors)
    .input(z.object({ bytes: z.number().int().positive() }))
    .output(z.void()),
  /** Records a range to a file, which opens on any console. */
  record: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(80), span }))
    .output(z.object({ name: z.string(), bytes: z.number() })),
  removeRecording: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(120) }))
    .output(z.void()),
  csv: oc.errors(errors).input(csvQuery).output(eventIterator(csvPart)),
}

export const contract = {
  host: {
    info: oc.output(
      z.object({
        name: z.literal('sluice'),
        version: z.string(),
        runtime: z.string(),
        shell: z.enum(['desktop', 'browser', 'terminal']),
      }),
    ),
    ack: oc.input(z.object({ stream: z.string().max(64), seq: z.number().int() })).output(z.void()),
  },
  source: {
    status: oc.input(stream).output(eventIterator(statusFrame)),
    setSpeed: oc
      .errors(errors)
      .input(z.object({ speed: z.number().min(0).max(64) }))
      .output(z.void()),
    /**
     * Sets the mode. A mode that writes requires an unlocked cluster if its safe mode demands it. Where another console enforces it is
     * refused with OTHER_CONSOLE, unless `takeOver` is set: that console then leaves enforce, and both record it in the audit.
     */
    setMode: oc
      .errors(errors)
      .input(z.object({ mode, takeOver: z.boolean().default(false) }))
      .output(z.void()),
    /** Unlocks enforce mode of the active cluster for 15 minutes; `typed` is its name. */
    unlock: oc
      .errors(errors)
      .input(z.object({ typed: z.string().max(200) }))
      .output(z.object({ untilMs: z.number() })),
    lock: oc.output(z.void()),
    /** Stops the controllers and removes all Sluice rules from every server that answers; sets mode observe. */
    stopAll: oc.errors(errors).output(stopResult),
    /** The same as a script for an admin's shell, one section per server; nothing is sent. */
    stopScript: oc.output(z.object({ text: z.string(), rules: z.number().int() })),
    setController: oc
      .errors(errors)
      .input(z.object({ controller: controllerName }))
      .output(z.void()),
    /** Settings of AdapTBF: changes the given fields only. */
    setControllerOptions: oc.errors(errors).input(adaptbfChange).output(z.void()),
    /**
     * Clears job_stats after each period, until enforce ends; `typed` is the name of the cluster. Refused with OTHERS_READ while other
     * readers are known.
     */
    startClearing: oc
      .errors(errors)
      .input(z.object({ typed: z.string().max(200) }))
      .output(z.void()),
    endClearing: oc.output(z.void()),
  },
  views: {
    /** Moves the cursor of a running stream, whose next frame shows that sample; false if there is no such stream. */
    stand: oc
      .input(z.object({ stream: z.string().max(64), at: z.number().int().nonnegative().nullable() }))
      .output(z.boolean()),
    strip: oc.input(stream.extend({ windowMs: windowMs.default(3_600_000) })).output(eventIterator(stripFrame)),
    overview: oc.input(stream.extend({ windowMs, againstMs })).output(eventIterator(overviewFrame)),
    jobs: oc
      .input(
        stream.extend({
          windowMs,
          againstMs,
          target,
          sort: jobColumn.default('rpcs'),
          descending: z.boolean().default(true),
          /** Filter, for example `user:ana rpc>5k -rule:* text`. */
          filter: z.string().max(500).default(''),
          /** Pinned jobs: listed first, independent of the filter. */
          pinned: z.array(z.string().max(128)).max(100).default([]),
          /** Adds sums of the filtered jobs; null: none. */
          groupBy: jobGroupBy.nullable().default(null),
          offset: z.number().int().nonnegative().default(0),
          limit: z.number().int().min(1).max(200).default(60),
        }),
      )
      .output(eventIterator(jobsFrame)),
    job: oc
      .input(
        stream.extend({
          windowMs,
          againstMs,
          target,
          jobId: z.string().min(1).max(128),
          /** Time that `share` and `entitled` are means of. */
          sharesOver: z.enum(['second', 'window']).default('second'),
        }),
      )
      .output(eventIterator(jobFrame)),
    server: oc.input(stream.extend(serverPlace.shape)).output(eventIterator(serverFrame)),
    rules: oc
      .input(
        stream.extend({
          againstMs,
          service: service.default('ost_io'),
          /** Empty = all nodes, merged. */
          node: z.string().max(255).default(''),
          queue: z.enum(['reg', 'hp']).default('reg'),
          /** Filter, for example `job:4690 rate<500 owner:operator is:drifting`. */
          filter,
          /** Rule whose position is requested; empty = none. */
          sought: z.string().max(512).default(''),
          offset: z.number().int().nonnegative().default(0),
          limit: z.number().int().min(1).max(200).default(100),
        }),
      )
      .output(eventIterator(rulesFrame)),
    /** Objects related to the selection of the window. */
    linked: oc.input(stream.extend({ windowMs, ...linkedQuery })).output(eventIterator(linkedFrame)),
    /** Metadata QoS: the control hierarchy, jobs and channels of one plane and scope. */
    metadata: oc
      .input(
        stream.extend({
          windowMs,
          againstMs,
          /** null: the first plane of the source. */
          plane: padllPlane.nullable().default(null),
          /** Empty: the first with a limit or a policy. */
          scope: z.string().max(40).default(''),
          /** Owner of the channels: a key of the tree, or `job:` and a job id; empty = all. */
          selected: z.string().max(300).default(''),
          /** Filter, for example `job:train op:open is:waiting`. */
          filter,
        }),
      )
      .output(eventIterator(metadataFrame)),
    /** Resources by contention, and the lanes of one; or the counters of Lustre's lock manager. */
    locks: oc
      .input(
        stream.extend({
          windowMs,
          againstMs,
          /** null: the first plane of the source. */
          plane: locksPlane.nullable().default(null),
          sort: locksSort.default('waiting'),
          /** Filter, for example `res:ckpt mode:NBW waiting>2`. */
          filter: z.string().max(500).default(''),
          offset: z.number().int().nonnegative().default(0),
          limit: z.number().int().min(1).max(200).default(60),
          /** Key of a resource, or a namespace; empty = the most contended. */
          selected: z.string().max(300).default(''),
          /** null: the queue's peak in the last seconds, over `spanMs`; null there: as long as that queue needs. */
          moment: lanesRange.nullable().default(null),
          spanMs: z.number().min(0.1).max(10_000).nullable().default(null),
        }),
      )
      .output(eventIterator(locksFrame)),
    /** Haechi: tokens of one data node. */
    tokens: oc
      .input(
        stream.extend({
          windowMs,
          againstMs,
          node: z.string().max(128).default(''),
          span: tokensSpan.default('period'),
          /** Filter, for example `client:c1 is:missing used>5k`. */
          filter,
        }),
      )
      .output(eventIterator(tokensFrame)),
    /** History of the active source: a day, a week, two compared ranges, the store. */
    history: oc.input(stream.extend(historyQuery.shape)).output(eventIterator(historyFrame)),
    /** Notebooks, alerts and bundles. */
    incidents: oc.input(stream.extend(incidentsQuery.shape)).output(eventIterator(incidentsFrame)),
    /** All configured clusters, connected or not, and pending user actions. */
    connections: oc.input(stream).output(eventIterator(connectionsFrame)),
    /** Staged changes of a service with their review, and earlier commits. */
    staged: oc
      .input(stream.extend({ service: service.default('ost_io'), reviewed: z.string().max(64).optional() }))
      .output(eventIterator(stagedFrame)),
  },
  /** Rule editing. Only `commit` writes to servers, and only the plan with its id. */
  rules: {
    /** Checks a draft; nothing is stored. */
    check: oc.input(checkInput).output(ruleCheck),
    /** Stages a change, or replaces `replaces` by it; a staged change of the same rule and queue is replaced, too. */
    stage: oc
      .errors(errors)
      .input(z.object({ service, form: ruleForm, terms: changeTerms, replaces: z.string().optional() }))
      .output(z.object({ id: z.string() })),
    /** Stages another policy for a service, which excludes other changes; `commit` sends it. */
    stagePolicy: oc
      .errors(errors)
      .input(z.object({ service, policy: z.string().max(64), reason: z.string().max(500) }))
      .output(z.object({ id: z.string() })),
    /** Reverts one staged change, or all of a service. */
    unstage: oc.input(z.object({ service, id: z.string().nullable() })).output(z.void()),
    /** Stages again, unchanged, changes that were reverted, or that the staged change `replaces` replaced. */
    restore: oc
      .errors(errors)
      .input(
        z.object({
          service,
          ids: z.array(z.string().max(64)).min(1).max(100),
          replaces: z.string().max(64).optional(),
        }),
      )
      .output(z.void()),
    /** Sends a reviewed plan: timers first, one server before the rest, read back. */
    commit: oc
      .errors(errors)
      .input(z.object({ service, planId: z.string(), typed: z.string().max(200) }))
      .output(z.object({ changeId: z.string(), nodes: z.array(nodeEnd) })),
    /** Cancels the current commit: rolls back the canary while it is watched; the remaining servers get nothing. */
    cancel: oc.output(z.void()),
    /** Stages the inverse of a committed change. */
    undo: oc
      .errors(errors)
      .input(z.object({ changeId: z.string() }))
      .output(z.void()),
  },
  /** Controllers of metadata QoS. They write according to the mode of the cluster. */
  padll: {
    change: oc.errors(errors).input(padllChange).output(z.void()),
    /** Parses a policy text; nothing is stored. */
    check: oc.input(policiesInput).output(policiesCheck),
    /** Sends a checked text to the controller; refused if it changed since, or if its name was not typed outside a demo. */
    apply: oc
      .errors(errors)
      .input(policiesInput.extend({ planId: z.string().max(64), typed: z.string().max(200) }))
      .output(z.void()),
  },
  locks: {
    /** Access pattern of the emulated ccPFS under other lock managers, on the model; no cluster is involved. */
    compare: oc
      .errors(errors)
      .input(
        z.object({ managers: z.array(lockManager).min(1).max(4), seconds: z.number().min(0.1).max(60).default(2) }),
      )
      .output(locksCompare),
  },
  /** Emulated data nodes; nothing outside the emulator is written. */
  tokens: {
    /** Returns the result of admission; nothing is stored. */
    check: oc.errors(errors).input(tokensReserve).output(tokensAdmission),
    /** Applies from the next period on; a refusal names the limit exceeded and by how much. */
    reserve: oc.errors(errors).input(tokensReserve).output(z.void()),
    change: oc.errors(errors).input(tokensChange).output(z.void()),
  },
  /** Clusters over SSH. Only `clean` writes to servers. */
  clusters: {
    aliases: oc.output(sshAliases),
    /** Adds a cluster, or changes the one called `replaces`; a connected one keeps its sessions where they still match. */
    save: oc
      .errors(errors)
      .input(z.object({ cluster: clusterInput, replaces: clusterName.optional() }))
      .output(z.void()),
    remove: oc
      .errors(errors)
      .input(z.object({ name: clusterName }))
      .output(z.void()),
    connect: oc
      .errors(errors)
      .input(z.object({ name: clusterName }))
      .output(z.void()),
    disconnect: oc
      .errors(errors)
      .input(z.object({ name: clusterName }))
      .output(z.void()),
    /** Switches to a cluster; null: the emulator. */
    show: oc
      .errors(errors)
      .input(z.object({ name: clusterName.nullable() }))
      .output(z.void()),
    /** Plays a scenario of the gallery on the emulator in place of the present one, and switches to it. */
    play: oc
      .errors(errors)
      .input(z.object({ scenario: z.string().max(200) }))
      .output(z.void()),
    /** Read-only checklist of one server, step by step; closing the stream cancels it. */
    check: oc.errors(errors).input(serverInput).output(eventIterator(checkEvent)),
    /** Approves a host key; refused for one that is changed, revoked or weak. */
    trust: oc
      .errors(errors)
      .input(
        z.object({
          host: z.string().max(253),
          port: z.number().int().min(1).max(65535),
          type: z.string().max(64),
          fingerprint: z.string().max(100),
          /** True if the fingerprint was compared with an independent source. */
          compared: z.boolean(),
        }),
      )
      .output(z.void()),
    /**
     * Answers a passphrase request; null: skip for now. Kept in memory only and zeroed after use, or stored in the system's keychain
     * (`remember`).
     */
    passphrase: oc
      .errors(errors)
      .input(
        z.object({
          id: z.string().max(64),
          passphrase: z.string().max(1024).nullable(),
          remember: z.boolean().default(false),
        }),
      )
      .output(z.void()),
    setProbe: oc
      .errors(errors)
      .input(z.object({ name: clusterName, probe: probeId, on: z.boolean() }))
      .output(z.void()),
    /** Saves the token rate T of the OSTs, and reconnects the cluster. */
    setMaxRate: oc.errors(errors).input(maxRateChange).output(z.void()),
    setSafeMode: oc
      .errors(errors)
      .input(z.object({ name: clusterName, safeMode }))
      .output(z.void()),
    /** Allows or forbids writing as root on a cluster. To allow it, `typed` is the cluster's name. Recorded in the audit. */
    setAllowRoot: oc
      .errors(errors)
      .input(z.object({ name: clusterName, allow: z.boolean(), typed: z.string().max(200) }))
      .output(z.void()),
    /** Removes Sluice leftovers, by their keys. */
    clean: oc
      .errors(errors)
      .input(z.object({ name: clusterName, keys: z.array(z.string().max(400)).max(5000), typed: z.string().max(200) }))
      .output(z.object({ nodes: z.array(nodeEnd) })),
  },
  history: historyVerbs,
  sandbox: sandboxVerbs,
  incidents: incidentVerbs,
  shell: shellVerbs,
  machine: machineVerbs,
  search: searchVerbs,
  /** The papers' experiments, run on the model; no cluster is involved. */
  papers: {
    list: oc.output(papersList),
    /** One run at a time per host; closing the stream cancels it. */
    run: oc.errors(errors).input(papersRunInput).output(eventIterator(papersEvent)),
  },
}
export type Contract = typeof contract
