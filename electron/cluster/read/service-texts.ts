/** One service's rules, policies and statistics from reading to reading: what is printed as before is not parsed again. */
import { parseNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { ByteText } from '#core/lustre/text.ts'
import { detach } from '../../base/detach.ts'
import type { ServiceReading } from '../probes/reading.ts'
import { statsOf, type Service } from '../../base/service.ts'
import { WaitMeter } from '../probes/service-wait.ts'

type Rules = Pick<ServiceReading, 'policies' | 'rules' | 'rulesText'>

const NOTHING: Rules = { policies: [], rules: [], rulesText: '' }

export class ServiceTexts {
  readonly service: Service
  readonly #wait = new WaitMeter()
  #policiesText = ''
  #rules: Rules = NOTHING
  #skippedPolicies = 0
  #skippedRules = 0

  constructor(service: Service) {
    this.service = service
  }

  /** Lines of what is known that no parser could read. */
  get skipped(): number {
    return this.#skippedPolicies + this.#skippedRules
  }

  /**
   * @param isDue  whether rules and policies are among the values: if not, what was read before stands.
   * @param isOn   whether they are read at all.
   */
  take(values: ReadonlyMap<string, ByteText>, isDue: boolean, isOn: boolean): ServiceReading {
    if (isDue) this.#read(values)
    else if (!isOn) {
      this.#rules = NOTHING
      this.#policiesText = ''
      this.#skippedPolicies = this.#skippedRules = 0
    }
    const wait = this.#wait.take(values.get(statsOf(this.service)))
    return { service: this.service, ...this.#rules, isRead: isOn, wait }
  }

  #read(values: ReadonlyMap<string, ByteText>): void {
    const policiesText = values.get(this.service.policies) ?? ''
    const text = values.get(this.service.rules) ?? ''
    if (policiesText !== this.#policiesText) {
      const { policies, skipped } = parseNrsPolicies(policiesText)
      this.#policiesText = detach(policiesText)
      this.#skippedPolicies = skipped.length
      this.#rules = { ...this.#rules, policies }
    }
    if (text !== this.#rules.rulesText) {
      const rulesText = detach(text)
      const { rules, skipped } = parseNrsTbfRule(rulesText)
      this.#skippedRules = skipped.length
      this.#rules = { ...this.#rules, rules, rulesText }
    }
  }
}
