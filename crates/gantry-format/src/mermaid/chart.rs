//! What a flowchart says, free of how it was spelt.

use std::ops::Range;

/// A byte range in the text that was read.
pub type Span = Range<usize>;

/// A flowchart: nodes, edges between them and subgraphs around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flowchart {
    /// The title of the front matter, if it has one.
    pub title: Option<String>,
    /// Where the chart flows to.
    pub direction: Direction,
    /// The nodes, in order of first appearance. A subgraph is not a node.
    pub nodes: Vec<FlowNode>,
    /// The edges, in order of appearance; `A & B --> C` is two of them.
    pub edges: Vec<FlowEdge>,
    /// The subgraphs, in the order in which they open.
    pub subgraphs: Vec<Subgraph>,
    /// What was read and carries no content, in order of appearance.
    pub ignored: Vec<Ignored>,
}

impl Flowchart {
    /// Returns the position of the first subgraph with this id.
    pub fn subgraph_position(&self, id: &str) -> Option<usize> {
        self.subgraphs.iter().position(|subgraph| subgraph.id == id)
    }
}

/// The direction of a chart or a subgraph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// `TB` or `TD`, the default.
    #[default]
    TopToBottom,
    /// `BT`.
    BottomToTop,
    /// `LR`.
    LeftToRight,
    /// `RL`.
    RightToLeft,
}

impl Direction {
    /// Returns the direction that a keyword stands for.
    pub(crate) fn from_keyword(keyword: &str) -> Option<Self> {
        match keyword {
            "TB" | "TD" | "v" => Some(Self::TopToBottom),
            "BT" | "^" => Some(Self::BottomToTop),
            "LR" | ">" | "BR" => Some(Self::LeftToRight),
            "RL" | "<" => Some(Self::RightToLeft),
            _ => None,
        }
    }

    /// Returns the usual keyword: `TB`, `BT`, `LR` or `RL`.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::TopToBottom => "TB",
            Self::BottomToTop => "BT",
            Self::LeftToRight => "LR",
            Self::RightToLeft => "RL",
        }
    }
}

/// A node of the chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowNode {
    /// The id, as written.
    pub id: String,
    /// The last label that was given, trimmed and with entity codes decoded; `None` without one.
    pub label: Option<String>,
    /// The last shape that was given.
    pub shape: Shape,
    /// Where the node first appears.
    pub span: Span,
}

/// The outline of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// No shape was given: drawn as a rectangle.
    #[default]
    Plain,
    /// `[text]`.
    Rectangle,
    /// `(text)`.
    Round,
    /// `([text])`.
    Stadium,
    /// `[[text]]`.
    Subroutine,
    /// `[(text)]`.
    Cylinder,
    /// `((text))`.
    Circle,
    /// `(((text)))`.
    DoubleCircle,
    /// `(-text-)`.
    Ellipse,
    /// `>text]`.
    Odd,
    /// `{text}`.
    Diamond,
    /// `{{text}}`.
    Hexagon,
    /// `[/text/]`.
    LeanRight,
    /// `[\text\]`.
    LeanLeft,
    /// `[/text\]`.
    Trapezoid,
    /// `[\text/]`.
    InvertedTrapezoid,
    /// Another shape, by the name in `@{ shape: name }`.
    Named(String),
}

/// The names that `@{ shape: name }` knows for shapes that also have brackets.
const SHAPE_NAMES: &[(&str, Shape)] = &[
    ("rect", Shape::Rectangle),
    ("rectangle", Shape::Rectangle),
    ("square", Shape::Rectangle),
    ("proc", Shape::Rectangle),
    ("process", Shape::Rectangle),
    ("rounded", Shape::Round),
    ("event", Shape::Round),
    ("stadium", Shape::Stadium),
    ("pill", Shape::Stadium),
    ("terminal", Shape::Stadium),
    ("subproc", Shape::Subroutine),
    ("subprocess", Shape::Subroutine),
    ("subroutine", Shape::Subroutine),
    ("fr-rect", Shape::Subroutine),
    ("framed-rectangle", Shape::Subroutine),
    ("cyl", Shape::Cylinder),
    ("cylinder", Shape::Cylinder),
    ("database", Shape::Cylinder),
    ("db", Shape::Cylinder),
    ("circle", Shape::Circle),
    ("circ", Shape::Circle),
    ("dbl-circ", Shape::DoubleCircle),
    ("double-circle", Shape::DoubleCircle),
    ("ellipse", Shape::Ellipse),
    ("odd", Shape::Odd),
    ("diam", Shape::Diamond),
    ("diamond", Shape::Diamond),
    ("decision", Shape::Diamond),
    ("question", Shape::Diamond),
    ("hex", Shape::Hexagon),
    ("hexagon", Shape::Hexagon),
    ("prepare", Shape::Hexagon),
    ("lean-r", Shape::LeanRight),
    ("lean-right", Shape::LeanRight),
    ("in-out", Shape::LeanRight),
    ("lean-l", Shape::LeanLeft),
    ("lean-left", Shape::LeanLeft),
    ("out-in", Shape::LeanLeft),
    ("trap-b", Shape::Trapezoid),
    ("trapezoid", Shape::Trapezoid),
    ("trapezoid-bottom", Shape::Trapezoid),
    ("priority", Shape::Trapezoid),
    ("trap-t", Shape::InvertedTrapezoid),
    ("inv-trapezoid", Shape::InvertedTrapezoid),
    ("trapezoid-top", Shape::InvertedTrapezoid),
    ("manual", Shape::InvertedTrapezoid),
];

impl Shape {
    /// Returns the shape with this name in `@{ shape: name }`.
    pub fn from_name(name: &str) -> Self {
        SHAPE_NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map_or_else(|| Self::Named(name.to_owned()), |(_, shape)| shape.clone())
    }
}

/// A link from one node or subgraph to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEdge {
    /// The id of the node or subgraph where it starts.
    pub from: String,
    /// The id of the node or subgraph where it ends.
    pub to: String,
    /// The text on the link, trimmed and with entity codes decoded.
    pub label: Option<String>,
    /// How its line is drawn.
    pub style: EdgeStyle,
    /// Whether it has a head (arrow, circle or cross) at its end.
    pub arrow: bool,
    /// Whether it has a head at its start too: `<-->`, `o--o`, `x--x`.
    pub both_ways: bool,
    /// Where the link stands, label included.
    pub span: Span,
}

/// How the line of an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeStyle {
    /// `-->` and `---`.
    Solid,
    /// `-.->` and `-.-`.
    Dotted,
    /// `==>` and `===`.
    Thick,
    /// `~~~`: only places nodes beside each other.
    Invisible,
}

/// A frame around nodes and other subgraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subgraph {
    /// The id; a subgraph with only a title of several words is called `subGraph0`, `subGraph1`, ...
    pub id: String,
    /// The title, or the id when there is none.
    pub title: String,
    /// The position of the subgraph around it in [`Flowchart::subgraphs`].
    pub parent: Option<usize>,
    /// The ids of the nodes directly inside, in order of appearance.
    pub nodes: Vec<String>,
    /// Its own direction, if it has one.
    pub direction: Option<Direction>,
    /// Where its first line stands.
    pub span: Span,
}

/// Something in the text that carries no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// What it is.
    pub kind: IgnoredKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of text that a chart may have for its looks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoredKind {
    /// A front matter key other than `title`.
    FrontMatter,
    /// `%%{init: ...}%%`.
    Directive,
    /// `style id ...`.
    Style,
    /// `linkStyle 0 ...`.
    LinkStyle,
    /// `classDef name ...`.
    ClassDef,
    /// `class id name`.
    Class,
    /// `id:::name`.
    ClassSuffix,
    /// `click id ...`.
    Click,
    /// `accTitle: ...` or `accDescr: ...`.
    Accessibility,
    /// `direction LR` outside of a subgraph.
    Direction,
    /// A key other than `shape` and `label` in `id@{ ... }`.
    NodeData,
    /// `id@{ ... }` of an edge.
    EdgeData,
    /// A label or shape on the id of a subgraph.
    SubgraphShape,
}

impl IgnoredKind {
    /// Returns what a person would call it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::FrontMatter => "front matter",
            Self::Directive => "`%%{ }%%` directive",
            Self::Style => "`style` statement",
            Self::LinkStyle => "`linkStyle` statement",
            Self::ClassDef => "`classDef` statement",
            Self::Class => "`class` statement",
            Self::ClassSuffix => "`:::` class",
            Self::Click => "`click` statement",
            Self::Accessibility => "accessibility text",
            Self::Direction => "`direction` statement outside of a subgraph",
            Self::NodeData => "data of a node in `@{ }`",
            Self::EdgeData => "data of an edge in `@{ }`",
            Self::SubgraphShape => "shape or label of a subgraph's id",
        }
    }
}
