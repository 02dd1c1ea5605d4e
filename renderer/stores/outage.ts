/**
 * Whether what is on screen can be reached: the line from this window to its host, and the servers of a live cluster. What was
 * read before stays; whoever wants to go on with it puts the words on the outage away until it is over.
 */
import { defineStore } from 'pinia'
import { computed, ref, watch } from 'vue'
import type { ServerCard } from '#core/api/clusters.ts'
import { useConnectionStore } from './connection.ts'
import { useConnectionsStore } from './connections.ts'
import { useSourceStore } from './source.ts'

/** Pauses of this window's own line: app/connect.ts. */
const LINE_RETRY = { baseMs: 500, mostMs: 10_000 } as const

export interface Outage {
  readonly of: 'host' | 'cluster'
  /** What is not reached. */
  readonly name: string
  /** Who says so; empty for the line to the host. */
  readonly host: string
  /** Others of which the same holds. */
  readonly others: number
  readonly why: string
  readonly code: string
  readonly retry: { readonly attempt: number; readonly baseMs: number; readonly mostMs: number } | null
  /** When it is tried again by itself; null: now, or not at all. */
  readonly retryAtMs: number | null
  readonly isTrying: boolean
}

/** Of servers that are tried again, the one that is next. */
const nextOf = (servers: readonly ServerCard[]): ServerCard | undefined =>
  servers.reduce<ServerCard | undefined>(
    (soonest, s) =>
      s.retryAtMs !== null && (soonest?.retryAtMs == null || s.retryAtMs < soonest.retryAtMs) ? s : soonest,
    undefined,
  )

/** Of what is not reached, and that nothing is lost by it. */
const offWords = (name: string): string => `There is no connection to ${name}. What is typed and staged stays.`

export const useOutageStore = defineStore('outage', () => {
  const [connection, connections, source] = [useConnectionStore(), useConnectionsStore(), useSourceStore()]
  const isAway = ref(false)
  /** Last schedule that a server told: while it tries, it tells none. */
  let last: Outage['retry'] = null

  const outage = computed<Outage | null>(() => {
    // Before there was a first sample there is nothing that could be kept.
    if (source.frame?.atMs == null) return null
    if (connection.isLost)
      return {
        ...{ of: 'host', name: 'the host', host: '', others: 0 },
        code: connection.needsAddress ? 'NO_KEY' : 'HOST_LOST',
        why: connection.needsAddress
          ? 'This tab has no key to the console'
          : 'the line of this window to the program that reads the servers ended',
        retry: connection.retryAtMs === null ? null : { attempt: connection.attempt, ...LINE_RETRY },
        ...{ retryAtMs: connection.retryAtMs, isTrying: false },
      }
    const card = source.frame.source.kind === 'LIVE' ? connections.onScreen : null
    if (!card || card.servers.length === 0 || card.servers.some((s) => s.state === 'connected')) return null
    const next = nextOf(card.servers)
    const told = next ?? card.servers.find((s) => s.state !== 'idle') ?? card.servers[0]
    const isTrying = !next && card.servers.some((s) => s.state === 'connecting')
    return {
      ...{ of: 'cluster', name: card.name, host: told?.host ?? '', others: card.servers.length - 1 },
      ...{ why: told?.text ?? '', code: told?.code ?? 'NOT_CONNECTED' },
      retry: next?.retry ?? (isTrying ? last : null),
      ...{ retryAtMs: next?.retryAtMs ?? null, isTrying },
    }
  })
  watch(
    () => outage.value?.retry,
    (retry) => (last = retry ?? last),
  )
  /** One that is over is told anew when it comes again. */
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
  /** Why the host cannot be asked for anything; null: it can. */
  const hostOff = computed(() => (connection.isLost ? offWords('the host') : null))
  /** Why nothing can be sent to a server now; null: it can. */
  const off = computed(() => hostOff.value ?? (outage.value === null ? null : offWords(outage.value.name)))
  /** Why nothing of what is on screen can be changed or staged; null: it can. What was typed or drafted stays. */
  const changeOff = computed(() => source.off ?? off.value)
  const workOffline = (): void => void (isAway.value = true)
  const tell = (): void => void (isAway.value = false)
  return { outage, isAway, hostOff, off, changeOff, retryNow, workOffline, tell }
})
