/**
 * Readings of the paper under which each figure with tokens is run, with the same settings in all figures: the amended rules with the
 * sigma that was measured, the rules as they are printed, and the amended rules with a sigma wide enough to learn from.
 */
import { BASIC, DEFAULT_SETTINGS, PAPER_LITERAL, type HaechiSettings } from '../../haechi/settings.ts'
import type { Measured } from '../expectation.ts'
import { estimating } from './node-run.ts'
import { measuredSigma } from './profile.ts'

export interface Reading {
  readonly key: 'measured' | 'literal' | 'sigma7'
  /** Part of the claims' ids between the set and the claim. */
  readonly prefix: '' | 'literal.' | 'sigma7.'
  readonly title: string
  /** Haechi, and the paper's Basic Haechi. */
  readonly haechi: () => HaechiSettings
  readonly basic: () => HaechiSettings
}

const atMeasured = (settings: HaechiSettings) => (): HaechiSettings => estimating({ sigma: measuredSigma() }, settings)

export const AMENDED: Reading = {
  key: 'measured',
  prefix: '',
  title: 'amended',
  haechi: atMeasured(DEFAULT_SETTINGS),
  basic: atMeasured(BASIC),
}

export const PRINTED: Reading = {
  key: 'literal',
  prefix: 'literal.',
  title: 'as printed',
  haechi: atMeasured(PAPER_LITERAL),
  basic: atMeasured({ ...PAPER_LITERAL, name: 'paper-literal-basic', decay: 'none', conversion: 'none' }),
}

export const WIDE: Reading = {
  key: 'sigma7',
  prefix: 'sigma7.',
  title: 'amended, sigma 7 %',
  haechi: () => DEFAULT_SETTINGS,
  basic: () => BASIC,
}

export const READINGS: readonly Reading[] = [AMENDED, PRINTED, WIDE]

export const READINGS_SETUP =
  'Each figure has three readings of the paper, with the same settings in all figures and the estimator on (M 5, eta 1 %). ' +
  'Amended: U >= omega raises omega and empties its history, a conversion counts tokens that were handed out, a client keeps ' +
  'tokens for requests that wait. As printed: U == omega, the pool becomes C_G (T - t) - L, xi <= X. Both with the sigma ' +
  'measured on the model (0.057 % of C_G). Then the amended rules with sigma 7 %.'

/** Measures every reading, by claim ids without `haechi.`. */
export const measureReadings = (
  set: string,
  measure: (reading: Reading) => Readonly<Record<string, Measured>>,
): Record<string, Measured> =>
  Object.fromEntries(
    READINGS.flatMap((reading) =>
      Object.entries(measure(reading)).map(([claim, value]) => [`${set}.${reading.prefix}${claim}`, value] as const),
    ),
  )

/** Values of every reading, named after it, for the series of a figure. */
export const byReading = <T>(name: string, valueOf: (reading: Reading) => T): Record<string, T> =>
  Object.fromEntries(READINGS.map((reading) => [`${name}, ${reading.title}`, valueOf(reading)]))
