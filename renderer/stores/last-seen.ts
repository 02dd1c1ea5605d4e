/**
 * Time at which this window last showed the newest sample of a cluster, on that cluster's clock: later events are new.
 * `leftMs` is that of the previous visit and is fixed while the window is open, so that news does not vanish while it
 * is read.
 */
import { useLocalStorage } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

const KEY = 'sluice.last-seen'
/** Most clusters stored; the least recently seen is dropped. */
const MOST = 50
/** Shortest time between two writes, ms. */
const EVERY_MS = 10_000
/** Shorter absences are not counted as leaving, ms. */
const AWAY_MS = 60_000

type Seen = [cluster: string, atMs: number]
const isSeen = (entry: unknown): entry is Seen =>
  Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && Number.isFinite(entry[1])

/** Content of the browser's storage is not trusted. */
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
  /** The newest sample of a cluster is shown. */
  function look(name: string, atMs: number): void {
    const before = seen.value.find(([n]) => n === name)?.[1]
    const hasLeft = before !== undefined && atMs - before > AWAY_MS && !(wasAway && cluster.value === name)
    wasAway = false
    cluster.value = name
    if (hasLeft) left.value = new Map(left.value).set(name, before)
    if (before !== undefined && Math.abs(atMs - before) < EVERY_MS) return
    seen.value = [[name, atMs] as Seen, ...seen.value.filter(([n]) => n !== name)].slice(0, MOST)
  }
  /** A recording is shown: that is not leaving. */
  function lookAway(): void {
    wasAway = true
  }
  /** End of the previous visit to the current cluster; null: unknown. */
  const leftMs = computed(() => (cluster.value === null ? null : (left.value.get(cluster.value) ?? null)))
  return { look, lookAway, leftMs }
})
