/** Initial contents of the editor, from a rule of the list or a staged change. */
import type { ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import type { Opening } from '../../stores/rule-draft.ts'
import type { RuleRow } from './rule-row-model.ts'

/**
 * Opens a rule on the servers as a change of it. A rule of a controller, which would revert the change, opens as a new rule
 * with the same conditions. The default rule of the server does not open.
 */
export function openingOfRow(service: ServiceName, queue: 'reg' | 'hp', row: RuleRow): Opening | null {
  if (row.owner === 'lustre') return null
  if (row.owner === 'sluice') {
    return { service, form: { verb: 'start', conditions: row.conditions, rate: String(row.rateMin), queue } }
  }
  // The rate is left empty: writing the current one again would give every class a full bucket.
  return {
    service,
    form: { verb: 'change', name: row.name, queue },
    rateNow: { min: row.rateMin, max: row.rateMax },
    terms: { expiresS: null, reason: '' },
  }
}

export const openingOfItem = (service: ServiceName, item: StagedFrame['items'][number]): Opening => ({
  service,
  form: item.form,
  replaces: item.id,
  terms: { expiresS: item.expiresS, reason: item.reason, ...(item.renews === true ? { renews: true } : {}) },
})
