/** Staging and unstaging as undoable edits: the host restores the previous change under its old id. */
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type { RuleForm, ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSourceStore } from './source.ts'
import { useUndoStore } from './undo.ts'

type Item = Pick<StagedFrame['items'][number], 'id' | 'rule' | 'form'>
type Policy = NonNullable<StagedFrame['policy']>
export interface ToStage {
  readonly service: ServiceName
  readonly form: RuleForm
  readonly terms: { readonly expiresS: number | null; readonly renews?: boolean | undefined; readonly reason: string }
  /** Id of the staged change that it replaces. */
  readonly replaces?: string | undefined
}

const verbNames = { start: 'start of', change: 'change of', stop: 'stop of' } as const
const labelOf = ({ verb, name }: RuleForm): string => `${verbNames[verb]} ${name}`

export const useStagedEditsStore = defineStore('staged-edits', () => {
  const connection = useConnectionStore()
  const source = useSourceStore()
  const undo = useUndoStore()
  /** Staged changes by service, as last seen. */
  const seen = shallowRef<ReadonlyMap<ServiceName, { items: readonly Item[]; policy: Policy | null }>>(new Map())
  const note = ({ service, items, policy }: Pick<StagedFrame, 'service' | 'items' | 'policy'>): void => {
    seen.value = new Map(seen.value).set(service, { items, policy })
  }

  function api(): Client {
    if (connection.host === null) throw new Error('The Sluice host is not connected')
    return connection.host.api
  }
  /** Shows a refusal above the view. */
  async function attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      const what = 'Staged changes were not updated'
      source.notify(connection.host === null ? noHost(what) : refusal(what, error))
      return false
    }
  }
  const unstageOne = (service: ServiceName, id: string): Promise<void> => api().rules.unstage({ service, id })
  const restore = (service: ServiceName, ids: string[], replaces?: string): Promise<void> =>
    api().rules.restore({ service, ids, ...(replaces === undefined ? {} : { replaces }) })

  /** @returns  its id. Throws the host's refusal. */
  async function stage({ service, form, terms, replaces }: ToStage): Promise<string> {
    const input = { service, form, terms, ...(replaces === undefined ? {} : { replaces }) }
    const { id } = await api().rules.stage(input)
    undo.push({
      area: 'rules',
      label: `stage ${labelOf(form)}`,
      undo: () => attempt(() => (replaces === undefined ? unstageOne(service, id) : restore(service, [replaces], id))),
      redo: () => attempt(() => restore(service, [id], replaces)),
    })
    return id
  }

  /** @param id  null: all of the service. Throws the host's refusal. */
  async function unstage(service: ServiceName, id: string | null): Promise<void> {
    const { items = [], policy = null } = seen.value.get(service) ?? {}
    const gone = items.filter((item) => id === null || item.id === id)
    const isPolicy = policy !== null && (id === null || policy.id === id)
    await api().rules.unstage({ service, id })
    const [first] = gone
    if (isPolicy) undo.push(policyEdit(service, policy.to, policy.reason, 'unstage', policy.id))
    else if (first !== undefined) {
      const ids = gone.map((item) => item.id)
      undo.push({
        area: 'rules',
        label: ids.length === 1 ? `unstage ${labelOf(first.form)}` : `unstage ${ids.length} changes`,
        undo: () => attempt(() => restore(service, ids)),
        redo: () =>
          attempt(async () => {
            for (const one of ids) await unstageOne(service, one)
          }),
      })
    }
  }

  /** A staged policy change excludes others, and has a new id each time. */
  function policyEdit(service: ServiceName, policy: string, reason: string, done: 'stage' | 'unstage', first: string) {
    let id = first
    const put = () => attempt(async () => void ({ id } = await api().rules.stagePolicy({ service, policy, reason })))
    const take = () => attempt(() => unstageOne(service, id))
    const [undoes, redoes] = done === 'stage' ? [take, put] : [put, take]
    return { area: 'rules' as const, label: `${done} the policy ${policy}`, undo: undoes, redo: redoes }
  }
  async function stagePolicy(service: ServiceName, policy: string): Promise<void> {
    const { id } = await api().rules.stagePolicy({ service, policy, reason: '' })
    undo.push(policyEdit(service, policy, '', 'stage', id))
  }
  return { seen, note, stage, unstage, stagePolicy }
})
