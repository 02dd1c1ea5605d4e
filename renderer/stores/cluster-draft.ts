/**
 * Cluster being configured, and the read-only checklist of its servers. Input survives closing the panel and every
 * refusal; nothing is written to a server from here.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { CheckEvent, CheckStep, ClusterInput, ServerCard, ServerInput, ShownKey } from '#core/api/clusters.ts'
import type { Notice } from '#core/api/frames.ts'
import { emptyFields, faultsOf, fieldsOf, inputOf, labelOf, serversOf, type ClusterFields } from './cluster-fields.ts'
import { useConnectionStore } from './connection.ts'
import { useConnectionsStore } from './connections.ts'
import { noHost, refusal } from './refusal.ts'
import { useSettingsStore } from './settings.ts'

export interface ServerCheck {
  readonly host: string
  readonly state: 'next' | 'running' | 'ended'
  readonly ok: boolean
  readonly steps: readonly CheckStep[]
  /** Keys presented on the path, the bastion's first. */
  readonly keys: readonly ShownKey[]
  readonly found: ServerCard | null
  /** Reason why the check failed to run. */
  readonly notice: Notice | null
}
export const stepNames = ['Address', 'Host key', 'Checklist', 'Discovery', 'Overhead'] as const
/** Parallel checks: as many new connections as a bastion accepts. */
const AT_ONCE = 4

const fresh = (host: string): ServerCheck => ({
  host,
  state: 'next',
  ok: false,
  steps: [],
  keys: [],
  found: null,
  notice: null,
})
/** True if the key cannot be trusted here: the host forbids it, or the verdict does. */
export const isRefused = ({ verdict, isOpen }: ShownKey): boolean =>
  verdict !== 'match' && (!isOpen || !['unknown', 'other-type'].includes(verdict))
const isSame = (a: ShownKey, b: ShownKey): boolean => a.host === b.host && a.port === b.port && a.type === b.type

/** A step that was canceled is marked as skipped. */
const ended = (step: CheckStep): CheckStep =>
  step.state === 'now' ? { ...step, state: 'skipped', detail: 'canceled' } : step

function withEvent(check: ServerCheck, event: CheckEvent): ServerCheck {
  switch (event.kind) {
    case 'steps':
      return { ...check, steps: event.steps }
    case 'key':
      return { ...check, keys: [...check.keys.filter((k) => !isSame(k, event.key)), event.key] }
    case 'found':
      // The result contains the final list of steps.
      return { ...check, found: event.server, steps: event.server.steps.length > 0 ? event.server.steps : check.steps }
    case 'end':
      return { ...check, ok: event.ok }
  }
}

export const useClusterDraftStore = defineStore('cluster-draft', () => {
  const connection = useConnectionStore()
  const connections = useConnectionsStore()
  const settings = useSettingsStore()
  /** Input by name of the edited cluster; empty name for a new one. */
  const typed = shallowRef<ReadonlyMap<string, ClusterFields>>(new Map())
  const replaces = ref('')
  /** Cluster as saved before. */
  const before = shallowRef<ClusterInput | null>(null)
  const step = ref(0)
  /** Set after an attempt to continue with faults: from then on missing fields are marked, too. */
  const wasTried = ref(false)
  const checks = shallowRef<ReadonlyMap<string, ServerCheck>>(new Map())
  const notice = shallowRef<Notice | null>(null)
  const isSaving = ref(false)
  /** True after the operator canceled all checks, until one is started. */
  const wasCancelled = ref(false)
  /** Name under which it was saved. */
  const saved = ref('')
  let inputs: readonly ServerInput[] = []
  const aborts = new Map<string, AbortController>()

  const fields = computed(
    () =>
      typed.value.get(replaces.value) ??
      (before.value ? fieldsOf(before.value) : { ...emptyFields, safeMode: settings.safeMode }),
  )
  const others = computed(() => connections.clusters.map((c) => c.name).filter((name) => name !== replaces.value))
  const faults = computed(() => faultsOf(fields.value, others.value))
  const servers = computed(() => serversOf(fields.value, before.value))
  const list = computed(() => [...checks.value.values()])
  const first = computed(() => list.value[0] ?? null)
  /** Keys that need approval or are refused, each with the servers that present them. */
  const waiting = computed(() =>
    list.value.flatMap((check) =>
      check.keys.filter((key) => key.verdict !== 'match').map((key) => ({ key, server: check.host })),
    ),
  )

  function edit(patch: Partial<ClusterFields>): void {
    typed.value = new Map(typed.value).set(replaces.value, { ...fields.value, ...patch })
  }
  /** Incremented when all checks are canceled, so that queued servers are dropped. */
  let round = 0
  function stop(): void {
    round++
    for (const abort of aborts.values()) abort.abort()
    aborts.clear()
  }
  /** @param input  configuration of an existing cluster; earlier input for it is kept. */
  function begin(name: string, input: ClusterInput | null): void {
    if (name === replaces.value && (input !== null) === (before.value !== null) && checks.value.size > 0) return
    stop()
    replaces.value = name
    before.value = input
    step.value = 0
    checks.value = new Map()
    notice.value = null
    wasTried.value = false
    saved.value = ''
  }
  /** Discards the input and cancels the checks. */
  function discard(): void {
    const next = new Map(typed.value)
    next.delete(replaces.value)
    typed.value = next
    stop()
    checks.value = new Map()
    step.value = 0
    saved.value = ''
    wasTried.value = false
    notice.value = null
  }

  const put = (check: ServerCheck): void => {
    checks.value = new Map(checks.value).set(check.host, check)
  }
  /** Runs the checklist of one server again; the earlier result stays until the first response. */
  async function check(input: ServerInput): Promise<void> {
    const host = labelOf(input)
    wasCancelled.value = false
    aborts.get(host)?.abort()
    const abort = new AbortController()
    aborts.set(host, abort)
    let now: ServerCheck = { ...fresh(host), state: 'running' }
    put(now)
    const update = (next: ServerCheck): void => {
      if (abort.signal.aborted) return
      now = next
      put(now)
      const key = now.steps.find((s) => s.id === 'host key')
      if (step.value === 1 && host === first.value?.host && key?.state === 'ok') step.value = 2
    }
    try {
      if (connection.host === null) return update({ ...now, notice: noHost(`${host} was not checked`) })
      const events = await connection.host.api.clusters.check(input, { signal: abort.signal })
      for await (const event of events) {
        if (abort.signal.aborted) return
        update(withEvent(now, event))
      }
    } catch (error) {
      update({ ...now, notice: refusal(`${host} was not checked`, error) })
    } finally {
      update({ ...now, state: 'ended' })
      if (aborts.get(host) === abort) aborts.delete(host)
    }
  }
  async function checkAll(those: readonly ServerInput[]): Promise<void> {
    const queue = [...those]
    const mine = round
    const worker = async (): Promise<void> => {
      while (round === mine) {
        const next = queue.shift()
        if (next === undefined) return
        await check(next)
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, queue.length) }, worker))
  }

  /** Checks the first server alone, so that a wrong user or jump host fails once and not twelve times. */
  async function start(): Promise<void> {
    wasTried.value = true
    if (Object.keys(faults.value).length > 0) return
    stop()
    inputs = servers.value
    checks.value = new Map(inputs.map((i) => [labelOf(i), fresh(labelOf(i))]))
    step.value = 1
    const [input] = inputs
    if (input) await check(input)
  }
  /** Checks the remaining servers. */
  async function startRest(): Promise<void> {
    step.value = 3
    await checkAll(inputs.slice(1).filter((i) => checks.value.get(labelOf(i))?.state === 'next'))
  }
  /** Checks every server of a configured cluster. */
  async function test(): Promise<void> {
    stop()
    inputs = before.value?.servers ?? []
    checks.value = new Map(inputs.map((i) => [labelOf(i), fresh(labelOf(i))]))
    step.value = 2
    await checkAll(inputs)
  }
  /** Cancels the check of one server; results so far are kept. */
  function cancel(host: string): void {
    aborts.get(host)?.abort()
    aborts.delete(host)
    const now = checks.value.get(host)
    if (now?.state === 'running') put({ ...now, state: 'ended', steps: now.steps.map(ended) })
  }
  /** Cancels all checks; results so far are kept, and queued servers are dropped. */
  function cancelAll(): void {
    stop()
    for (const one of list.value)
      if (one.state === 'running') put({ ...one, state: 'ended', steps: one.steps.map(ended) })
    wasCancelled.value = true
  }
  const again = async (host: string): Promise<void> => {
    const input = inputs.find((i) => labelOf(i) === host)
    if (input) await check(input)
  }
  /** Trusts a key, then checks the servers that presented it again. */
  async function trust(key: ShownKey, compared: boolean): Promise<boolean> {
    notice.value = isRefused(key)
      ? { code: 'KEY_REFUSED', what: 'The key was not trusted', why: `it is ${key.verdict}` }
      : await connections.trust(key, compared)
    if (notice.value !== null) return false
    const those = list.value.filter((c) => c.keys.some((k) => isSame(k, key))).map((c) => c.host)
    void checkAll(inputs.filter((i) => those.includes(labelOf(i))))
    return true
  }

  /** Saves the cluster and optionally connects it. Input is kept until that has succeeded. */
  async function save(options: { connect: boolean }): Promise<boolean> {
    wasTried.value = true
    if (isSaving.value || Object.keys(faults.value).length > 0) return false
    const what = 'The cluster was not saved'
    if (connection.host === null) {
      notice.value = noHost(what)
      return false
    }
    isSaving.value = true
    try {
      const cluster = inputOf(fields.value, before.value)
      const old = saved.value || replaces.value
      await connection.host.api.clusters.save({ cluster, ...(old === '' ? {} : { replaces: old }) })
      saved.value = cluster.name
      connections.chosen = cluster.name
      notice.value = null
      if (options.connect) await connections.connect(cluster.name)
      return true
    } catch (error) {
      notice.value = refusal(what, error)
      return false
    } finally {
      isSaving.value = false
    }
  }

  return {
    fields,
    faults,
    servers,
    step,
    wasTried,
    checks,
    list,
    first,
    waiting,
    notice,
    isSaving,
    saved,
    replaces,
    edit,
    begin,
    discard,
    stop,
    start,
    startRest,
    test,
    again,
    cancel,
    cancelAll,
    wasCancelled,
    trust,
    save,
  }
})
