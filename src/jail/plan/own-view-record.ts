/** The steps that show a folder of the host through inodes of the cell's own; native/cell/build/own_view.c reads them. */
export type OwnViewRecord =
  | { readonly do: 'open-lower'; readonly slot: number; readonly path: string }
  | {
      readonly do: 'own-view'
      readonly slot: number
      /** Where it is mounted until the pivot, and a folder without anything in it. */
      readonly path: string
      readonly empty: string
      readonly attributes: number
    }
  | {
      readonly do: 'bind-own'
      /** Where the view is mounted, what of it is shown, and where. */
      readonly at: string
      readonly source: string
      readonly path: string
    }
