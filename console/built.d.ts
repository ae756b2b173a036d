/** What the build puts in: `scripts/build-console.ts`. */
declare module 'lazaret:layers' {
  /** Every layer of the wall, outermost first, with what it keeps a guest from. */
  export const layers: readonly { readonly name: string; readonly stops: string }[]
}
