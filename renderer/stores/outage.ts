/**
 * Outages: connection from this window to its host, and to the servers of a live cluster. Data read before stays; the
 * operator can hide the message until the outage is over.
 */
import { defineStore } from 'pinia'
import { computed, ref, watch } from 'vue'
import type { ServerCard } from '#core/api/clusters.ts'
import { useConnectionStore } from './connection.ts'
import { useConnectionsStore } from './connections.ts'
import { useSourceStore } from './source.ts'

/** Retry delays of this window's own connection: app/connect.ts. */
const LINE_RETRY = { baseMs: 500, mostMs: 10_000 } as const

export interface Outage {
  readonly of: 'host' | 'cluster'
  /** Name of the unreachable host or cluster. */
  readonly name: string
  /** Server that reports the error; empty for the connection to the host. */
  readonly host: string
  /** Number of other servers with the same state. */
  readonly others: number
  readonly why: string
  readonly code: string
  readonly retry: { readonly attempt: number; readonly baseMs: number; readonly mostMs: number } | null
  /** Time of the next automatic retry; null: now, or none. */
  readonly retryAtMs: number | null
  readonly isTrying: boolean
}

/** Server with the earliest retry. */
const nextOf = (servers: readonly ServerCard[]): ServerCard | undefined =>
  servers.reduce<ServerCard | undefined>(
    (soonest, s) =>
      s.retryAtMs !== null && (soonest?.retryAtMs == null || s.retryAtMs < soonest.retryAtMs) ? s : soonest,
    undefined,
  )

/** Message for disabled actions: names the outage and says that nothing is lost. */
const disconnectedText = (name: string): string => `No connection to ${name}. Input and staged changes are kept.`

export const useOutageStore = defineStore('outage', () => {
  const connection = useConnectionStore()
  const connections = useConnectionsStore()
  const source = useSourceStore()
  const isAway = ref(false)
  /** Last reported retry schedule: none is reported during an attempt. */
  let last: Outage['retry'] = null

  const outage = computed<Outage | null>(() => {
    // Before the first sample there is no data to keep.
    if (source.frame?.atMs == null) return null
    if (connection.isLost)
      return {
        of: 'host',
        name: 'the Sluice host',
        host: '',
        others: 0,
        code: connection.needsAddress ? 'NO_KEY' : 'HOST_LOST',
        why: connection.needsAddress ? 'This tab has no key to the console' : 'Lost connection to the Sluice host',
        retry: connection.retryAtMs === null ? null : { attempt: connection.attempt, ...LINE_RETRY },
        retryAtMs: connection.retryAtMs,
        isTrying: false,
      }
    const card = source.frame.source.kind === 'LIVE' ? connections.onScreen : null
    if (!card || card.servers.length === 0 || card.servers.some((s) => s.state === 'connected')) return null
    const next = nextOf(card.servers)
    const server = next ?? card.servers.find((s) => s.state !== 'idle') ?? card.servers[0]
    const isTrying = !next && card.servers.some((s) => s.state === 'connecting')
    return {
      of: 'cluster',
      name: card.name,
      host: server?.host ?? '',
      others: card.servers.length - 1,
      why: server?.text ?? '',
      code: server?.code ?? 'NOT_CONNECTED',
      retry: next?.retry ?? (isTrying ? last : null),
      retryAtMs: next?.retryAtMs ?? null,
      isTrying,
    }
  })
  watch(
    () => outage.value?.retry,
    (retry) => (last = retry ?? last),
  )
  /** A new outage is shown again, even if the previous one was hidden. */
  watch(
    () => (outage.value === null ? '' : `${outage.value.of} ${outage.value.name}`),
    () => {
      isAway.value = false
      last = outage.value?.retry ?? null
    },
  )

  function retryNow(): void {
    const now = outage.value
    if (now?.of === 'host') connection.retryNow()
    else if (now) void connections.connect(now.name)
  }
  /** Reason why no request can be sent to the host; null if it can. */
  const hostOff = computed(() => (connection.isLost ? disconnectedText('the Sluice host') : null))
  /** Reason why nothing can be sent to a server; null if it can. */
  const off = computed(() => hostOff.value ?? (outage.value === null ? null : disconnectedText(outage.value.name)))
  /** Reason why nothing can be changed or staged; null if it can. Drafts are kept. */
  const changeOff = computed(() => source.off ?? off.value)
  const workOffline = (): void => void (isAway.value = true)
  const show = (): void => void (isAway.value = false)
  return { outage, isAway, hostOff, off, changeOff, retryNow, workOffline, show }
})
