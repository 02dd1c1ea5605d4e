/** What the editor opens with: a rule of the list, or a staged change. */
import type { ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import type { Opening } from '../../stores/rule-draft.ts'
import type { RuleRow } from './rule-face.ts'

/**
 * A rule that stands on the servers opens as a change of it; a controller's, which it would set back at once, as a new rule
 * of the operator's own with the same conditions. The server's own rule does not open.
 */
export function openingOfRow(service: ServiceName, queue: 'reg' | 'hp', row: RuleRow): Opening | null {
  if (row.owner === 'lustre') return null
  if (row.owner === 'sluice') {
    return { service, form: { verb: 'start', conditions: row.conditions, rate: String(row.rateMin), queue } }
  }
  // The rate is left open: writing the one that stands would hand every class a full bucket for nothing.
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
  terms: { expiresS: item.expiresS, reason: item.reason },
})
