/** What the bundler resolves and TypeScript cannot: single-file components (for eslint; vue-tsc knows them) and styles. */
declare module '*.vue' {
  import type { DefineComponent } from 'vue'
  const component: DefineComponent<Record<string, unknown>, Record<string, unknown>, unknown>
  export default component
}
declare module '*.css' {}
