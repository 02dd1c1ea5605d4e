/**
 * What differs between Lustre releases: what `nrs_policies` and `nrs_tbf_rule` take, what the parameters print, and how
 * lctl behaves. A server names its release in `version`; the emulator plays each of them.
 *
 * Source: spec/lustre 0.2, corrected by the measurements of 2.15.8, 2.17.0 and 2.17.57. Releases between two profiles
 * behave as the older one.
 */
import { LCTL_DIALECTS, type LctlDialect } from './lctl-dialect.ts'
import { RELEASES, type Release } from './release.ts'
import { RULE_DIALECTS, type RuleDialect } from './rule-dialect.ts'
import { TEXT_DIALECTS, type TextDialect } from './text-dialect.ts'
import type { LustreVersion } from './version.ts'

export interface Profile {
  readonly release: Release
  /** What NRS TBF accepts and how it prints its rules. */
  readonly rules: RuleDialect
  /** How counters and tables are printed. */
  readonly text: TextDialect
  /** How the tool behaves that reads and writes them. */
  readonly lctl: LctlDialect
}

const PROFILES = new Map<Release, Profile>(
  RELEASES.map((release) => [
    release,
    { release, rules: RULE_DIALECTS[release], text: TEXT_DIALECTS[release], lctl: LCTL_DIALECTS[release] },
  ]),
)

export const profile = (release: Release): Profile => PROFILES.get(release) as Profile

/** The profile of a server of this version; the development line for what cannot be read. */
export function profileOf(version: LustreVersion | undefined): Profile {
  if (!version) return profile('dev')
  const { major, minor, patch } = version
  // 2.16.50 and 2.17.50 and later are the development lines towards the next release.
  const at = major * 1e6 + minor * 1e3 + patch
  if (at >= 2_017_050) return profile('dev')
  if (at >= 2_016_050) return profile('2.17')
  if (at >= 2_015_050) return profile('2.16')
  return profile(at >= 2_014_050 ? '2.15' : '2.12')
}
