/**
 * Differences between Lustre releases: input of `nrs_policies` and `nrs_tbf_rule`, output of parameters, behavior of lctl. A server
 * reports its release in `version`; the emulator supports each of them.
 *
 * Source: spec/lustre 0.2, corrected by the measurements of 2.15.8, 2.17.0 and 2.17.57. Releases between two profiles behave like the
 * older one.
 */
import { LCTL_DIALECTS, type LctlDialect } from './lctl-dialect.ts'
import { RELEASES, type Release } from './release.ts'
import { RULE_DIALECTS, type RuleDialect } from './rule-dialect.ts'
import { TEXT_DIALECTS, type TextDialect } from './text-dialect.ts'
import type { LustreVersion } from './version.ts'

export interface Profile {
  readonly release: Release
  /** Rule syntax accepted by NRS TBF, and its printed form. */
  readonly rules: RuleDialect
  /** Format of counters and tables. */
  readonly text: TextDialect
  /** Behavior of the tool that reads and writes them. */
  readonly lctl: LctlDialect
}

const PROFILES = new Map<Release, Profile>(
  RELEASES.map((release) => [
    release,
    { release, rules: RULE_DIALECTS[release], text: TEXT_DIALECTS[release], lctl: LCTL_DIALECTS[release] },
  ]),
)

export const profile = (release: Release): Profile => PROFILES.get(release) as Profile

/** Returns the profile for a server version; the development line if the version is unreadable. */
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
