/** A variant of the contract, or of a file, as the sandbox runs it. */
import type { Variant as VariantInput } from '#core/api/sandbox.ts'
import type { Variant } from '#core/sandbox/variant.ts'

export const variantOf = ({ adaptbf, ...rest }: VariantInput): Variant => ({
  ...rest,
  // What is not named is the scenario's.
  adaptbf: Object.fromEntries(Object.entries(adaptbf).filter(([, v]) => v !== undefined)),
})
