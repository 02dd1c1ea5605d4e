/** The machine that the answers were recorded on: MGS, MDT, two OSTs and a client in one, file system `testfs`. */
import { EmulatedNode } from '#core/emulator/node.ts'
import { ROOT, type LustreSide } from '#core/emulator/lctl/host.ts'
import { MgsLog } from '#core/emulator/lctl/mgs-log.ts'
import type { Parameter } from '#core/emulator/parameter.ts'
import { file, text } from '#core/emulator/parameters/file.ts'
import { NodeState, nodeParameters } from '#core/emulator/parameters/node.ts'
import type { ExecResult } from '#core/emulator/exec.ts'
import { profileOf } from '#core/lustre/profile.ts'
import { parseVersion } from '#core/lustre/version.ts'
import { Simulation } from '#core/sim/simulation.ts'
import { NrsService } from '#core/tbf/nrs-service.ts'
import { OTHER_POLICIES } from '#core/tbf/policy-command.ts'
import type { CorpusRecord } from './records.ts'

const SERVICES: readonly [string, boolean][] = [
  ['ost.OSS.ost', true],
  ['ost.OSS.ost_create', false],
  ['ost.OSS.ost_io', true],
  ['ost.OSS.ost_out', false],
  ['ost.OSS.ost_seq', false],
  ['mds.MDS.mdt', true],
  ['mds.MDS.mdt_fld', false],
  ['mds.MDS.mdt_io', true],
  ['mds.MDS.mdt_out', false],
  ['mds.MDS.mdt_readpage', false],
  ['mds.MDS.mdt_seqm', false],
  ['mds.MDS.mdt_seqs', false],
  ['ldlm.services.ldlm_canceld', true],
  ['ldlm.services.ldlm_cbd', false],
  ['mgs.MGS.mgs', false],
]

export class World {
  readonly sim = new Simulation()
  readonly node: EmulatedNode
  #isLoaded = true
  #hasOsts = true

  constructor(first: CorpusRecord) {
    const version = first.lustre
    const profile = profileOf(parseVersion(version))
    const cpts = first.cpt ?? 1
    const state = new NodeState({
      profile,
      version,
      cpts,
      cpus: 2,
      epochSeconds: 1_795_215_400,
      clock: () => this.sim.now,
    })
    const services = SERVICES.map(([name, hp]) => {
      const service = new NrsService({
        cpts,
        hp,
        profile,
        ...(name.endsWith('ost_io') ? {} : { policies: OTHER_POLICIES }),
      })
      const parts = name.split('.')
      const nrs = (attribute: string, ops: Pick<Parameter, 'read' | 'write'>): Parameter =>
        file('debugfs', [...parts, attribute], ops)
      return [
        nrs('nrs_policies', { read: () => service.readPolicies(), write: (v) => service.writePolicies(v) }),
        nrs('nrs_tbf_rule', { read: () => service.readRules(), write: (v) => service.writeRule(v) }),
        ...service.policyParameters.map((p) =>
          nrs(p, { read: () => service.readPolicyParameter(p), write: (v) => service.writePolicyParameter(p, v) }),
        ),
        file(
          'debugfs',
          [...parts, 'stats'],
          text(() => ''),
        ),
      ]
    })
    const parameters = [...nodeParameters(state), ...services.flat()]
    const withoutOsts = parameters.filter((p) => !p.name.startsWith('ost.') && !p.name.startsWith('obdfilter.'))
    const lustre: LustreSide = {
      version,
      parameters: () => (this.#hasOsts ? parameters : withoutOsts),
      nids: ['10.0.2.15@tcp'],
      isLoaded: () => this.#isLoaded,
      paramsLog: new MgsLog(this.sim, () => [lustre]),
      bootSeconds: 1_795_215_400,
    }
    this.node = new EmulatedNode(this.sim, { name: 'lvm', role: 'oss', lustre })
  }

  exec(command: string): ExecResult {
    return this.node.exec(command)
  }

  /** What happened to the machine before a command, beyond what commands do. */
  enter(r: CorpusRecord): void {
    this.#isLoaded = !r.id.startsWith('nomod-')
    this.#hasOsts = !r.id.startsWith('noost-')
  }

  /** Runs a recorded command as its user; a `sleep` before it passes in virtual time. */
  run(r: CorpusRecord): ExecResult {
    const user = r.user === 'root' ? ROOT : { name: r.user, uid: Number(r.user.slice(1)) }
    const sleep = /^sleep (\d+); /.exec(r.command)
    if (sleep) this.sim.runUntil(this.sim.now + Number(sleep[1]) * 1e9)
    return this.node.exec(r.command.slice(sleep?.[0].length ?? 0), user)
  }
}

export const makeWorld = (records: readonly CorpusRecord[]): World => new World(records[0] as CorpusRecord)
