/** Converts a variant of the contract, or of a file, for the sandbox. */
import type { Variant as VariantInput } from '#core/api/sandbox.ts'
import type { Variant } from '#core/sandbox/variant.ts'

export const variantOf = ({ adaptbf, ...rest }: VariantInput): Variant => ({
  ...rest,
  // Omitted options are those of the scenario.
  adaptbf: Object.fromEntries(Object.entries(adaptbf).filter(([, v]) => v !== undefined)),
})
