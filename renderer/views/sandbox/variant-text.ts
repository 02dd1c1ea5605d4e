/** Texts of variants, and the letters that name them. */
import type { Variant } from '#core/api/sandbox.ts'
import type { LockOption } from '#core/controllers/settings.ts'
import { definitionOf } from '#core/controllers/registry.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, plural } from '../../format/units.ts'

/** Letter of a variant by its index in the run: none for the baseline, then A, B, C. */
export const letterOf = (at: number): string => (at <= 0 ? '' : String.fromCharCode(64 + at))
export const titleOf = (at: number, name: string): string => (at <= 0 ? name : `${letterOf(at)} ${name}`)

export const metadataNames = {
  off: 'off',
  static: 'static',
  uniform: 'uniform',
  priority: 'priority',
  proportional: 'proportional',
  psfa: 'PSFA',
  'psfa-adaptive': 'PSFA adaptive',
} as const
export const lockNames = {
  seqdlm: 'SeqDLM',
  lustre: 'DLM-Lustre',
  datatype: 'DLM-datatype',
  basic: 'DLM-basic',
} as const

export const lockOptionNames: Readonly<Record<LockOption, string>> = {
  earlyGrant: 'Early grant',
  earlyRevocation: 'Early revocation',
  conversion: 'Lock conversion',
  expansion: 'Range expansion',
}
export const haechiNames = { off: 'Bare (no QoS)', basic: 'Basic Haechi', haechi: 'Haechi' } as const

/** Number of settings of metadata, locks and data nodes beyond their main choice. */
const fineSettings = ({ metadataLimits, lockOptions, tokens }: Variant): number =>
  metadataLimits.length + Object.keys(lockOptions).length + Object.keys(tokens).length

/** Formats the settings in one line, until a result has its own description. */
export function detailOf(v: Variant): string {
  const rules = v.rules.length === 0 ? '' : plural(v.rules.length, 'rule')
  const controller =
    v.controller === 'none'
      ? rules || 'no controller'
      : [definitionOf(v.controller).title, rules].filter(Boolean).join(' with ')
  const parts = [
    controller,
    v.maxRate === null ? '' : `T ${formatNumber(v.maxRate)} RPC/s per OST`,
    v.periodMs === null ? '' : `period ${formatNumber(v.periodMs)} ms`,
    v.metadata === null ? '' : `metadata ${metadataNames[v.metadata]}`,
    v.haechi === 'scenario' ? '' : haechiNames[v.haechi],
    v.locks === null ? '' : `locks ${lockNames[v.locks]}`,
    fineSettings(v) > 0 ? plural(fineSettings(v), 'plane setting') : '',
    v.onS > 0 ? `from ${formatNumber(v.onS)} s` : '',
  ]
  return plainText(parts.filter(Boolean).join(', '))
}
