/**
 * When this window last showed the newest of a cluster, on that cluster's clock: what came later is news. `leftMs` is that of
 * the visit before this one and stays while the window is open, so that what is new does not vanish while it is read.
 */
import { useLocalStorage } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

const KEY = 'sluice.last-seen'
/** Clusters remembered; the longest unseen goes first. */
const MOST = 50
/** How often it is written down. */
const EVERY_MS = 10_000
/** A window that was away for less has not left. */
const AWAY_MS = 60_000

type Seen = [cluster: string, atMs: number]
const isSeen = (entry: unknown): entry is Seen =>
  Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && Number.isFinite(entry[1])

/** What is in the store of a browser may be anything. */
function read(text: string): Seen[] {
  try {
    const all: unknown = JSON.parse(text)
    return Array.isArray(all) ? all.filter(isSeen).slice(0, MOST) : []
  } catch {
    return []
  }
}

export const useLastSeenStore = defineStore('last-seen', () => {
  const seen = useLocalStorage<Seen[]>(KEY, [], {
    serializer: { read, write: (value) => JSON.stringify(value) },
    listenToStorageChanges: false,
  })
  const left = shallowRef<ReadonlyMap<string, number>>(new Map())
  const cluster = shallowRef<string | null>(null)

  let wasAway = false
  /** The newest sample of a cluster is on screen. */
  function look(name: string, atMs: number): void {
    const before = seen.value.find(([n]) => n === name)?.[1]
    const hasLeft = before !== undefined && atMs - before > AWAY_MS && !(wasAway && cluster.value === name)
    wasAway = false
    cluster.value = name
    if (hasLeft) left.value = new Map(left.value).set(name, before)
    if (before !== undefined && Math.abs(atMs - before) < EVERY_MS) return
    seen.value = [[name, atMs] as Seen, ...seen.value.filter(([n]) => n !== name)].slice(0, MOST)
  }
  /** Its past is on screen: whoever looks at that has not left. */
  function lookAway(): void {
    wasAway = true
  }
  /** When the cluster on screen was last looked at before this visit; null: not known. */
  const leftMs = computed(() => (cluster.value === null ? null : (left.value.get(cluster.value) ?? null)))
  return { look, lookAway, leftMs }
})
