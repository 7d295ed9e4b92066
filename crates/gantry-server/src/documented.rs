//! Routes that say what they do: one call adds the handler and its part of the `OpenAPI` document, so neither can be without
//! the other.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use serde_json::{Value, json};
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathItem,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, Content, Info, OpenApiBuilder, Paths, Ref, RefOr, Required, ResponseBuilder, SecurityRequirement,
};
use utoipa::{IntoParams, PartialSchema as _, ToSchema};

use crate::access::{Role, Who};
use crate::app::App;
use crate::body::unknown;
use crate::problem::{self, Problem};
use crate::shapes::Heard;

/// All routes of the API, and what they say about themselves.
#[derive(Default)]
pub struct Described {
    router: Router<App>,
    paths: BTreeMap<String, PathItem>,
    schemas: BTreeMap<String, RefOr<Schema>>,
}

/// The usual form of bodies.
const JSON: &str = "application/json";

/// What one route does.
pub struct Does {
    operation: OperationBuilder,
    schemas: Vec<(String, RefOr<Schema>)>,
}

/// A reference to a type, and everything that it is made of.
fn schema_of<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) -> RefOr<Schema> {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
    Ref::from_schema_name(T::name()).into()
}

impl Does {
    /// A route of a group, in one sentence.
    pub fn new(group: &str, summary: &str) -> Self {
        Self { operation: OperationBuilder::new().tag(group).summary(Some(summary)), schemas: Vec::new() }
    }

    /// More about it.
    #[must_use]
    pub fn about(mut self, text: &str) -> Self {
        self.operation = self.operation.description(Some(text));
        self
    }

    /// What its query may say.
    #[must_use]
    pub fn asked<T: IntoParams>(mut self) -> Self {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            self.operation = self.operation.parameter(parameter);
        }
        self
    }

    /// A header that it looks at.
    #[must_use]
    pub fn header(mut self, name: &str, text: &str) -> Self {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(text))
            .schema(Some(text_schema()))
            .build();
        self.operation = self.operation.parameter(parameter);
        self
    }

    /// What its body says.
    #[must_use]
    pub fn takes<T: ToSchema>(mut self) -> Self {
        let schema = schema_of::<T>(&mut self.schemas);
        self.body([(JSON, schema)], Required::True)
    }

    /// What its body may say; it may be empty.
    #[must_use]
    pub fn may_take<T: ToSchema>(mut self) -> Self {
        let schema = schema_of::<T>(&mut self.schemas);
        self.body([(JSON, schema)], Required::False)
    }

    /// What its body may say, and what a form with files says that may be sent instead.
    #[must_use]
    pub fn may_take_or_form<T: ToSchema, F: ToSchema>(mut self) -> Self {
        let (schema, form) = (schema_of::<T>(&mut self.schemas), schema_of::<F>(&mut self.schemas));
        self.body([(JSON, schema), ("multipart/form-data", form)], Required::False)
    }

    /// Its body is a file as it is. What kind of file is told in words: clients know how to send bytes, and not every kind.
    #[must_use]
    pub fn takes_file(self) -> Self {
        let bytes = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).build();
        self.body([("application/octet-stream", Schema::Object(bytes).into())], Required::True)
    }

    fn body<const N: usize>(mut self, forms: [(&str, RefOr<Schema>); N], required: Required) -> Self {
        let body = forms
            .into_iter()
            .fold(RequestBodyBuilder::new(), |body, (media, schema)| body.content(media, Content::new(Some(schema))));
        self.operation = self.operation.request_body(Some(body.required(Some(required)).build()));
        self
    }

    /// What it answers when it was done.
    #[must_use]
    pub fn gives<T: ToSchema>(mut self, status: u16, text: &str) -> Self {
        let schema = schema_of::<T>(&mut self.schemas);
        self.answers(status, text, schema)
    }

    /// It answers where the plan stands when it was said.
    #[must_use]
    pub fn heard(self) -> Self {
        self.gives::<Heard>(200, "It is on record.")
    }

    /// What it answers when it was done, as a list.
    #[must_use]
    pub fn gives_list<T: ToSchema>(mut self, status: u16, text: &str) -> Self {
        let items = schema_of::<T>(&mut self.schemas);
        self.answers(status, text, Schema::Array(ArrayBuilder::new().items(items).build()).into())
    }

    fn answers(mut self, status: u16, text: &str, schema: RefOr<Schema>) -> Self {
        let response = ResponseBuilder::new().description(text).content(JSON, Content::new(Some(schema))).build();
        self.operation = self.operation.response(status.to_string(), response);
        self
    }

    /// What it answers in one of several forms.
    #[must_use]
    pub fn gives_media(mut self, status: u16, media: &[&str], text: &str) -> Self {
        let mut response = ResponseBuilder::new().description(text);
        for media in media {
            response = response.content(*media, Content::new(Some(media_schema(media))));
        }
        self.operation = self.operation.response(status.to_string(), response.build());
        self
    }

    /// What it answers without a body.
    #[must_use]
    pub fn gives_nothing(mut self, status: u16, text: &str) -> Self {
        self.operation = self.operation.response(status.to_string(), ResponseBuilder::new().description(text).build());
        self
    }
}

/// What a form says: clients read JSON and YAML as what is written in them, and anything else as text.
fn media_schema(media: &str) -> Schema {
    if matches!(media, "application/json" | "application/yaml") {
        return Schema::Object(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build());
    }
    text_schema()
}

fn text_schema() -> Schema {
    Schema::Object(ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).build())
}

impl Described {
    /// Adds a route to look at something.
    #[must_use]
    pub fn get<H, T>(self, path: &str, role: Role, handler: H, does: Does) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.route(Method::GET, path, role, handler, does)
    }

    /// Adds a route to do something.
    #[must_use]
    pub fn post<H, T>(self, path: &str, role: Role, handler: H, does: Does) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.route(Method::POST, path, role, handler, does)
    }

    /// Adds a route to take something away.
    #[must_use]
    pub fn delete<H, T>(self, path: &str, role: Role, handler: H, does: Does) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.route(Method::DELETE, path, role, handler, does)
    }

    /// Adds a route that takes a role.
    fn route<H, T>(mut self, method: Method, path: &str, role: Role, handler: H, does: Does) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let guard = middleware::from_fn(move |request: Request, next: Next| check(role, request, next));
        self.router = self.router.route(path, on(filter(&method), handler).layer(guard));
        self.describe(&method, path, &format!("Takes the role `{role}` where there are accounts."), does)
    }

    /// Adds a route that anyone may ask.
    #[must_use]
    pub fn open<H, T>(mut self, method: Method, path: &str, handler: H, does: Does) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.router = self.router.route(path, on(filter(&method), handler));
        self.describe(&method, path, "Takes no role.", does)
    }

    fn describe(mut self, method: &Method, path: &str, role: &str, does: Does) -> Self {
        let http = match method.as_str() {
            "GET" => HttpMethod::Get,
            "DELETE" => HttpMethod::Delete,
            _ => HttpMethod::Post,
        };
        let mut operation = does.operation.operation_id(Some(operation_id(method, path)));
        for name in names_in(path) {
            operation = operation.parameter(path_parameter(name));
        }
        let (name, schema) = (Problem::name().into_owned(), Problem::schema());
        self.schemas.insert(name, schema);
        let problem = ResponseBuilder::new()
            .description("It was not done, and why.")
            .content(problem::MEDIA, Content::new(Some(Ref::from_schema_name(Problem::name()))))
            .build();
        let mut built: Operation = operation.response("default", problem).build();
        built.description = Some(match built.description.take() {
            Some(text) => format!("{text}\n\n{role}"),
            None => role.to_owned(),
        });
        let item = PathItem::new(http, built);
        match self.paths.get_mut(path) {
            Some(known) => known.merge_operations(item),
            None => drop(self.paths.insert(path.to_owned(), item)),
        }
        self.schemas.extend(does.schemas);
        self
    }

    /// The routes.
    pub fn router(self) -> Router<App> {
        self.router
    }

    /// The `OpenAPI` document.
    pub fn document(&self) -> Value {
        let mut paths = Paths::new();
        for (path, item) in &self.paths {
            paths.paths.insert(path.clone(), item.clone());
        }
        let mut components = Components::new();
        components.schemas.extend(self.schemas.iter().map(|(name, schema)| (name.clone(), schema.clone())));
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.security_schemes.insert("token".to_owned(), SecurityScheme::Http(bearer).into());
        let mut info = Info::new("Gantry", env!("CARGO_PKG_VERSION"));
        info.description = Some(
            "Plans that can be trusted, carried out. A plan is named by its id, its number, the beginning of its id, or \
             `@last`. Problems are documents of RFC 9457 with a stable `code`. Lists come in pages: pass `next` as \
             `cursor`. Times are UTC."
                .to_owned(),
        );
        let document = OpenApiBuilder::new()
            .info(info)
            .paths(paths)
            .components(Some(components))
            .security(Some([SecurityRequirement::default(), SecurityRequirement::new("token", Vec::<String>::new())]))
            .build();
        serde_json::to_value(&document).unwrap_or_else(|error| json!({"error": error.to_string()}))
    }
}

fn filter(method: &Method) -> MethodFilter {
    match method.as_str() {
        "GET" => MethodFilter::GET,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::POST,
    }
}

/// Lets a request through if whoever makes it may.
async fn check(role: Role, request: Request, next: Next) -> Response {
    match request.extensions().get::<Who>() {
        None => unknown().into_response(),
        Some(who) if who.role < role => {
            let detail = format!("{} is {}, and this takes the role {role}", who.name, who.role);
            Problem::new(axum::http::StatusCode::FORBIDDEN, "access::role", detail)
                .hint("ask an admin for the role, or someone who has it to do this")
                .into_response()
        }
        Some(_) => next.run(request).await,
    }
}

/// `get_plans_plan_tasks` for `GET /api/v1/plans/{plan}/tasks`, and `get_other_plans` for `GET /plans`.
fn operation_id(method: &Method, path: &str) -> String {
    let own = path.strip_prefix("/api/v1").map_or_else(|| format!("/other{path}"), str::to_owned);
    let words = own.split(['/', '{', '}', '-', '.']).filter(|word| !word.is_empty());
    let mut id = method.as_str().to_ascii_lowercase();
    words.for_each(|word| id = format!("{id}_{word}"));
    id
}

fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'))
}

fn path_parameter(name: &str) -> Parameter {
    let text = match name {
        "plan" => "The plan: its id, its number, the beginning of its id, or `@last`.",
        "task" => "The id of a task.",
        "gate" => "The id of a gate.",
        _ => "The name.",
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(text))
        .schema(Some(text_schema()))
        .build()
}
