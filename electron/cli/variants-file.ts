/** Variants from a YAML file: a list, or a list under `variants`. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import { variant, VARIANTS_MAX, type Variant } from '#core/api/sandbox.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Schema of the contract, but strict: a misspelled key is an error. */
const strict = z.array(z.strictObject(variant.shape)).min(1).max(VARIANTS_MAX)
const file = z.union([strict, z.strictObject({ variants: strict }).transform((f) => f.variants)])

/** Reads a variants file. Failures: VARIANTS_UNREADABLE, VARIANTS_INVALID with the path. */
export function readVariants(name: string): Result<Variant[]> {
  const next = 'Write a list of variants: - { name: Cap, controller: none, rules: [...] }.'
  let plain: unknown
  try {
    plain = parse(readFileSync(name, 'utf8'), { maxAliasCount: 100 })
  } catch (e) {
    const why = (e instanceof Error ? e.message : String(e)).split('\n')[0]
    return fail({ code: 'VARIANTS_UNREADABLE', what: `The variants in ${name} cannot be read`, why, next })
  }
  const isList = Array.isArray(plain)
  const read = isList ? strict.safeParse(plain) : file.safeParse(plain)
  if (read.success) return ok(read.data)
  const [issue] = read.error.issues
  const why = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is not a list of variants'
  return fail({ code: 'VARIANTS_INVALID', what: `The variants in ${name} cannot be used`, why, next })
}
