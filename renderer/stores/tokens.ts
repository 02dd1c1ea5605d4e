/**
 * Tokens view: data node and span, selection and input, and requests that change a node. Kept while another view is
 * shown, so that no input is lost.
 */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { TokensAdmission, TokensChange, TokensFrame, TokensReserve, TokensSpan } from '#core/api/tokens.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSelectionStore } from './selection.ts'

const NOT_CHANGED = 'The data node was not changed'
const NOT_RESERVED = 'The reservation was not changed'
const NOT_CHECKED = 'Admission was not checked'
/** Longest delay of a frame from before a change, which applies from the next period on, ms. */
const UNDER_WAY_MS = 3000

export type InspectorTab = 'client' | 'events' | 'terms'
export const tokensSorts = [
  'name',
  'used',
  'reservation',
  'left',
  'held',
  'yielded',
  'queued',
  'missed',
  'iops',
] as const
export type TokensSort = (typeof tokensSorts)[number]

/** Input for one client, as text, including invalid input. */
export interface ReserveDraft {
  readonly reservation: string
  readonly limit: string
}
type Settings = Omit<TokensChange, 'node'>

/** Applies settings accepted by the host to a frame that does not contain them yet. */
export function withSettings(frame: TokensFrame, node: string, settings: Settings): TokensFrame {
  if (frame.node !== node) return frame
  const { variant = frame.variant, preset = frame.preset } = settings
  return { ...frame, variant, preset }
}

export const useTokensStore = defineStore('tokens', () => {
  const connection = useConnectionStore()
  const selection = useSelectionStore()
  /** Empty: the first of the source. */
  const node = ref('')
  const span = ref<TokensSpan>('period')
  /** Filters the clients. */
  const filter = ref('')
  /** Key of the selected client; empty = none. */
  const client = ref('')
  const sort = ref<TokensSort>('name')
  const descending = ref(false)
  /** Tab of the open inspector; null = closed. */
  const inspector = ref<InspectorTab | null>(null)
  /** Key of the client whose reservation is being edited. */
  const editing = ref<string | null>(null)
  const drafts = shallowRef<ReadonlyMap<string, ReserveDraft>>(new Map())
  /** Refusal of the last change of the node. */
  const notice = shallowRef<Notice | null>(null)

  /** @param jobId  job of the client, or empty: becomes the window's selection. */
  function select(key: string, jobId: string): void {
    client.value = key
    if (jobId !== '') selection.select(jobId)
    else selection.choose('client', key)
  }
  // Esc clears every selection, including this one.
  selection.$onAction(({ name }) => {
    if (name !== 'clear') return
    client.value = ''
    inspector.value = null
  })
  /** Sorts by a column; again: reverses the order. Names start ascending, numbers descending. */
  function sortBy(column: TokensSort): void {
    if (sort.value === column) descending.value = !descending.value
    else {
      sort.value = column
      descending.value = column !== 'name'
    }
  }
  /** Another node has other clients. */
  function show(next: string): void {
    if (next === node.value) return
    node.value = next
    client.value = ''
    editing.value = null
  }
  /** Drafts are keyed by node and client: two nodes may have clients of the same name. */
  const draftKey = (on: string, key: string): string => JSON.stringify([on, key])
  const draftOf = (on: string, key: string): ReserveDraft | null => drafts.value.get(draftKey(on, key)) ?? null
  function keep(on: string, key: string, draft: ReserveDraft | null): void {
    const next = new Map(drafts.value)
    if (draft === null) next.delete(draftKey(on, key))
    else next.set(draftKey(on, key), draft)
    drafts.value = next
  }

  const agreed = shallowRef<{ node: string; settings: Settings; untilMs: number } | null>(null)
  async function change(on: string, settings: Settings): Promise<boolean> {
    try {
      if (connection.host === null) {
        notice.value = noHost(NOT_CHANGED)
        return false
      }
      await connection.host.api.tokens.change({ node: on, ...settings })
      const before = agreed.value?.node === on ? agreed.value.settings : {}
      agreed.value = { node: on, settings: { ...before, ...settings }, untilMs: Date.now() + UNDER_WAY_MS }
      notice.value = null
      return true
    } catch (error) {
      notice.value = refusal(NOT_CHANGED, error)
      return false
    }
  }
  /** Called for a new frame: changes accepted longer ago are in it, or have been reverted since. */
  function arrived(): void {
    if (agreed.value !== null && Date.now() > agreed.value.untilMs) agreed.value = null
  }
  const settled = (frame: TokensFrame): TokensFrame =>
    agreed.value === null ? frame : withSettings(frame, agreed.value.node, agreed.value.settings)

  /** Result of admission control; a notice if the request failed. */
  async function check(input: TokensReserve): Promise<TokensAdmission | Notice> {
    try {
      return connection.host === null ? noHost(NOT_CHECKED) : await connection.host.api.tokens.check(input)
    } catch (error) {
      return refusal(NOT_CHECKED, error)
    }
  }
  /** null: it applies from the next period on. */
  async function reserve(input: TokensReserve): Promise<Notice | null> {
    try {
      if (connection.host === null) return noHost(NOT_RESERVED)
      await connection.host.api.tokens.reserve(input)
      return null
    } catch (error) {
      return refusal(NOT_RESERVED, error)
    }
  }

  return {
    node,
    span,
    filter,
    client,
    sort,
    descending,
    inspector,
    editing,
    drafts,
    notice,
    select,
    sortBy,
    show,
    draftOf,
    keep,
    change,
    arrived,
    settled,
    check,
    reserve,
  }
})
