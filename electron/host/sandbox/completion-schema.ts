/** JSON schema of scenarios, with helpers for completion. */
import * as z from 'zod'
import { scenarioSchema } from '#core/emulator/scenario.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: string | number | boolean | null | object
  readonly const?: string | number | boolean | null
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  /** True for a list that may be written as its only item. */
  readonly allowsSingleItem?: boolean
}

/** Inputs that pass through a transform, such as one operation or several, are described by its output. */
const options: Parameters<typeof z.toJSONSchema>[1] = {
  io: 'input',
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    const { def } = zodSchema._zod
    if (def.type === 'pipe' && def.in._zod.def.type === 'transform') {
      Object.assign(jsonSchema, z.toJSONSchema(def.out, options), { allowsSingleItem: true })
    }
  },
}

let made: Schema | undefined

export function scenarioJsonSchema(): Schema {
  return (made ??= z.toJSONSchema(scenarioSchema, options) as Schema)
}

/** Branches of a union; those that contradict constants the map already contains are left out. */
export function branches(s: Schema, values: ReadonlyMap<string, unknown> | undefined): Schema[] {
  const parts = s.oneOf ?? s.anyOf ?? s.allOf
  if (!parts) return [s]
  const about = s.description === undefined ? {} : { description: s.description }
  return parts
    .flatMap((p) => branches({ ...about, ...p }, values))
    .filter((p) =>
      Object.entries(p.properties ?? {}).every(([key, child]) => {
        if (!values?.has(key)) return true
        const value = values.get(key)
        if (child.const !== undefined) return value === null || child.const === value
        return child.enum === undefined || value === null || child.enum.some((v) => v === value)
      }),
    )
}

/** Line about a key: type, allowed values, default, description. */
export function detailOf(s: Schema): string {
  const { minimum, maximum } = s
  const kind = s.enum ? s.enum.slice(0, 6).join(' | ') : s.const !== undefined ? String(s.const) : typeName(s)
  const isRange = minimum !== undefined && maximum !== undefined && maximum < 1e15
  const range = isRange ? ` ${minimum} to ${maximum}` : ''
  const plain = defaultText(s)
  const standard = plain === '' ? '' : `, default ${plain}`
  return [`${kind}${range}${standard}`, s.description]
    .filter((t) => t !== undefined && t !== '')
    .join('; ')
    .slice(0, 300)
}

/** Default value as text; empty without, and for lists and maps. */
function defaultText({ default: standard }: Schema): string {
  return typeof standard === 'string' || typeof standard === 'number' || typeof standard === 'boolean'
    ? String(standard)
    : ''
}

function typeName(s: Schema): string {
  if (s.oneOf ?? s.anyOf) return ''
  return typeof s.type === 'string'
    ? ({
        array: 'a list',
        object: 'a map',
        integer: 'a whole number',
        number: 'a number',
        string: 'a text',
        boolean: 'true or false',
      }[s.type] ?? s.type)
    : ''
}

export interface Option {
  readonly label: string
  readonly detail: string
  readonly apply: string
}

/** Values that a schema enumerates; for a list its items, in brackets. */
export function valuesOf(s: Schema): Option[] {
  const about = s.description ?? ''
  const option = (label: string): Option => ({
    label,
    detail: label === defaultText(s) ? 'default' : about,
    apply: label,
  })
  if (s.type === 'array' && s.items) return valuesOf(s.items).map((o) => (s.allowsSingleItem ? o : inList(o)))
  if (s.enum) return s.enum.map((v) => option(String(v)))
  if (s.const !== undefined) return [option(String(s.const))]
  if (s.type === 'boolean') return ['true', 'false'].map(option)
  const plain = defaultText(s)
  return plain === '' ? [] : [option(plain)]
}

/** Returns the option as a list with one item, for places that require a list. */
export const inList = (o: Option): Option => ({ ...o, apply: `[${o.apply}]` })
